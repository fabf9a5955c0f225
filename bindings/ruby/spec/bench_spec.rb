# frozen_string_literal: true

require 'json'
require 'open3'

# The bench checks what it reads; small, it takes a moment.
RSpec.describe 'The bench' do
  it 'runs small and gives rows of the schema' do
    program = File.expand_path('../bench/hash.rb', __dir__)
    said, status = Open3.capture2(RbConfig.ruby, *$LOAD_PATH.map { |at| "-I#{at}" }, program, File.dirname(path), '--small')
    rows = JSON.parse(said)
    expect(status).to be_success
    expect(rows.map(&:keys).uniq).to eq([%w[name unit ours peer peer_name goal]])
    expect([rows.size > 10, rows.map { |row| row['goal'] }.uniq]).to eq([true, [nil]])
  end
end
