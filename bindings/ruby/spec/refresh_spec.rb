# frozen_string_literal: true

RSpec.describe Hammerspace::Refresh do
  let(:hash) { open }
  let(:app) { described_class.new(->(env) { [200, {}, [env['said'].to_s + hash['a'].to_s]] }, hash) }

  it 'lets every request read what is current' do
    publish('a' => '1')
    expect(app.call({}).last).to eq(['1'])
    publish('a' => '2')
    expect(hash['a']).to eq('1')
    expect(app.call('said' => '>').last).to eq(['>2'])
  end

  it 'keeps a version if the next is damaged, and says so' do
    require 'stringio'
    publish('a' => '1')
    app.call({})
    publish('a' => '2')
    File.truncate(File.join(path, 'current/hammerspace.spl'), 50)
    errors = StringIO.new
    expect(app.call('rack.errors' => errors).last).to eq(['1'])
    expect(errors.string).to match(/\AHammerspace: .*hammerspace.spl/)
    expect(app.call({}).last).to eq(['1'])
  end
end
