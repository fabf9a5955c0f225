# frozen_string_literal: true

# All that can be done with a hash, and what it comes to.
def everything(hash)
  hash['a'] = 'A' * 50
  hash['b'] = 'B'
  hash.each { |pair| pair }
  hash.each { |key, value| [key, value] }
  hash.each.next
  hash.each_key.to_a
  hash.map(&:first)
  hash.merge!('c' => 'C') { |*three| three.last }
  hash.delete('c')
  hash.replace('a' => 'A' * 50, 'b' => 'B')
  [hash.fetch('a'), hash.keys, hash.values, hash.uid, hash.versions, hash.dup['a'], hash.key?('a')]
  begin
    hash.fetch('x')
  rescue KeyError
    nil
  end
  hash.refresh
  hash.close
  hash.to_h
end

# Run as a program: a small heap, collected at every allocation.
if $PROGRAM_NAME == __FILE__
  require 'hammerspace'
  [{}, { frozen: true, encoding: 'UTF-8' }, { compression: :zstd }].each do |options|
    hash = Hammerspace.new(ARGV.first, { durability: :none }.merge(options))
    GC.stress = true
    result = everything(hash)
    GC.stress = false
    abort "#{options}: #{result}" unless result == { 'a' => 'A' * 50, 'b' => 'B' }
  end
end
