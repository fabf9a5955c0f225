# frozen_string_literal: true

# Every method of the original, as it is documented there, and as Ruby's Hash has it where the original was mistaken.
RSpec.describe Hammerspace::Hash do
  let(:hash) { open.tap { |hash| { 'a' => 'A', 'b' => 'B', 'c' => 'C' }.each { |key, value| hash[key] = value } } }
  let(:empty) { open }

  it 'is what Hammerspace.new gives, and really enumerable' do
    expect(empty).to be_an_instance_of(described_class)
    expect(Enumerable === empty).to be(true)
    expect(empty.backend).to be_a(Hammerspace::Backend::Base).and be_a(Hammerspace::Backend::Sparkey)
    expect([empty.path, empty.options]).to eq([path, {}])
  end

  it 'does not have what the original has not' do
    %i[< <= > >= compact! compare_by_identity deconstruct_keys dig except fetch_values filter! invert merge rehash slice
       to_proc transform_keys transform_values].each do |name|
      expect { hash.public_send(name) }.to raise_error(NoMethodError), name.to_s
    end
  end

  describe 'new' do
    it 'takes a default, or a block, and not both, nor more' do
      expect(Hammerspace.new(path, {}, 'none')['x']).to eq('none')
      expect(Hammerspace.new(path, {}) { |_hash, key| key * 2 }['x']).to eq('xx')
      expect { Hammerspace.new(path, {}, 'none') { 'none' } }.to raise_error(ArgumentError)
      expect { Hammerspace.new(path, {}, 'none', 'more') }.to raise_error(ArgumentError)
      expect { Hammerspace.new }.to raise_error(ArgumentError)
    end

    it 'takes a Pathname, ignores options it does not know, and refuses what are none' do
      require 'pathname'
      Hammerspace.new(Pathname.new(path), color: 'red')['a'] = 'A'
      expect(File).to exist(path)
      expect { Hammerspace.new(path, nil) }.to raise_error(TypeError)
    end

    it 'takes a relative path from where it was called, and ~ for a name, as File does' do
      FileUtils.mkdir_p("#{path}/elsewhere")
      hash = Dir.chdir(path) { Hammerspace.new('~/relative') }
      Dir.chdir("#{path}/elsewhere") do
        hash['a'] = 'A'
        hash.close
        expect([hash.dup['a'], hash['a'], hash.path]).to eq(['A', 'A', "#{path}/~/relative"])
      end
      expect(Dir.children(path) + Dir.children("#{path}/~")).to contain_exactly('elsewhere', '~', 'relative')
      expect(Dir.children("#{path}/elsewhere")).to eq([])
    end
  end

  describe 'defaults' do
    it 'are a value or a proc, and setting one unsets the other' do
      empty.default = 'none'
      expect([empty.default, empty.default('x'), empty['x'], empty.default_proc]).to eq(['none', 'none', 'none', nil])
      empty.default_proc = ->(of, key) { [of, key] }
      expect([empty.default, empty.default('x'), empty['x']]).to eq([nil, [empty, 'x'], [empty, 'x']])
      empty.default = nil
      expect([empty.default_proc, empty['x']]).to eq([nil, nil])
    end

    it 'may write' do
      writing = Hammerspace.new(path) { |of, key| of[key] = "#{key}!" }
      expect([writing['x'], writing.key?('x'), writing.to_a]).to eq(['x!', true, [%w[x x!]]])
    end

    it 'go through a method that may be overridden' do
      subclass = Class.new(described_class) { def default(key = nil) = "no #{key}" }
      expect(subclass.new(path)['x']).to eq('no x')
      def empty.default(_key = nil) = 'singular'
      expect(empty['x']).to eq('singular')
    end

    it 'count for [] and values_at alone' do
      hash.default = 'none'
      expect(hash.values_at('a', 'x')).to eq(%w[A none])
      expect([hash.key?('x'), hash.assoc('x'), hash.key('x'), hash.fetch('x', 1)]).to eq([false, nil, nil, 1])
    end
  end

  describe 'keys and values' do
    it 'are strings, and nothing that could be made one' do
      stringlike = Object.new.tap { |object| def object.to_str = 'a' }
      [:a, 1, nil, stringlike, %w[a]].each do |thing|
        [empty, hash].each do |of|
          expect { of[thing] }.to raise_error(TypeError, /wrong argument type/)
          expect { of[thing] = 'x' }.to raise_error(TypeError)
          expect { of['x'] = thing }.to raise_error(TypeError)
          expect { of.key?(thing) }.to raise_error(TypeError)
          expect { of.fetch(thing) }.to raise_error(TypeError)
          expect { of.delete(thing) }.to raise_error(TypeError)
        end
      end
    end

    it 'leave nothing pending when they are refused' do
      uid = hash.uid
      expect { hash[1] = 'x' }.to raise_error(TypeError)
      expect(hash.uid).to eq(uid)
    end

    it 'may be empty, hold NULs, be long, and of a subclass' do
      odd = { '' => 'nothing', 'nothing' => '', "\0a\0" => "\0", 'k' * 1_000_000 => 'v' * 10_000_000,
              Class.new(String).new('sub') => Class.new(String).new('class') }
      odd.each { |key, value| empty[key] = value }
      empty.close
      odd.each { |key, value| expect(open[key] == value).to be(true) }
      expect(open.keys.sort).to eq(odd.keys.sort)
      expect(open['sub']).to be_an_instance_of(String)
    end

    it 'are copied when they are written' do
      key = +'key'
      value = +'value'
      empty[key] = value
      key << '!'
      value << '!'
      expect(empty.to_a).to eq([%w[key value]])
    end

    it 'come back fresh and not frozen' do
      first = hash['a']
      first << '!'
      expect(hash['a']).to eq('A')
      expect(hash.to_a.flatten).to all(satisfy { |text| !text.frozen? })
    end
  end

  describe 'lookups' do
    it 'have all their names' do
      expect([hash['a'], hash['x']]).to eq(['A', nil])
      %i[key? has_key? include? member?].each do |name|
        expect([hash.public_send(name, 'a'), hash.public_send(name, 'x'), empty.public_send(name, 'x')])
          .to eq([true, false, false])
      end
      %i[value? has_value?].each do |name|
        expect([hash.public_send(name, 'A'), hash.public_send(name, 'x')]).to eq([true, false])
      end
    end

    it 'fetch' do
      expect([hash.fetch('a'), hash.fetch('a', 1), hash.fetch('x', 1)]).to eq(['A', 'A', 1])
      expect(hash.fetch('x', 1) { |key| key * 2 }).to eq('xx')
      expect { hash.fetch('x') }.to raise_error(KeyError, 'key not found: "x"') { |error|
        expect([error.key, error.receiver]).to eq(['x', hash])
      }
      expect { hash.fetch('x', 1, 2) }.to raise_error(ArgumentError)
      expect { empty.fetch('x') }.to raise_error(KeyError)
    end

    it 'assoc, rassoc, key, values_at' do
      expect([hash.assoc('a'), hash.assoc('x'), empty.assoc('x')]).to eq([%w[a A], nil, nil])
      expect([hash.rassoc('B'), hash.rassoc('x')]).to eq([%w[b B], nil])
      expect([hash.key('a'), hash.key('A')]).to eq(['A', nil]), 'the value of a key, as ever'
      expect(hash.values_at('c', 'x', 'a')).to eq(['C', nil, 'A'])
    end
  end

  it 'counts' do
    expect([hash.size, hash.length, hash.empty?, hash.count]).to eq([3, 3, false, 3])
    expect([empty.tap(&:clear).size, empty.length, empty.empty?]).to eq([0, 0, true])
  end

  describe 'order' do
    it 'is that of the last write of each key' do
      hash['a'] = 'again'
      expect(hash.keys).to eq(%w[b c a])
      hash.delete('b')
      hash['b'] = 'back'
      expect([hash.keys, hash.values, hash.first]).to eq([%w[c a b], %w[C again back], %w[c C]])
    end
  end

  describe 'iteration' do
    it 'gives pairs, or keys and values to blocks that take two' do
      pairs = [%w[a A], %w[b B], %w[c C]]
      one = []
      two = []
      hash.each { |pair| one << pair }
      hash.each_pair { |key, value| two << [key, value] }
      expect([one, two, hash.to_a, hash.entries, hash.each_entry.to_a]).to all(eq(pairs))
      lambda_of_two = []
      hash.each(&->(key, value) { lambda_of_two << [key, value] })
      expect(lambda_of_two).to eq(pairs)
      expect([hash.map { |pair| pair }, hash.select { |pair| pair }, hash.map(&:first)]).to eq([pairs, pairs, %w[a b c]])
      expect(hash.map { |key, value| key + value }).to eq(%w[aA bB cC])
    end

    it 'returns the hash, an empty one too' do
      %i[each each_pair each_key each_value].each do |name|
        expect(hash.public_send(name) { nil }).to equal(hash)
        expect(empty.tap(&:clear).public_send(name) { raise }).to equal(empty)
        hash.merge!('a' => 'A', 'b' => 'B', 'c' => 'C')
      end
    end

    it 'has what Enumerable has' do
      expect(hash.inject { |sum, pair| sum + pair }).to eq(%w[a A b B c C])
      expect(hash.each_with_index.to_a).to eq([[%w[a A], 0], [%w[b B], 1], [%w[c C], 2]])
      expect(hash.min_by { |_key, value| value }).to eq(%w[a A])
      expect(hash.sort_by { |key, _value| key }.last).to eq(%w[c C])
      expect(hash.find { |key, _value| key == 'b' }).to eq(%w[b B])
      expect(hash.partition { |key, _value| key == 'b' }).to eq([[%w[b B]], [%w[a A], %w[c C]]])
      expect([hash.to_h, hash.to_hash]).to all(eq('a' => 'A', 'b' => 'B', 'c' => 'C'))
      expect(hash.each_slice(2).to_a).to eq([[%w[a A], %w[b B]], [%w[c C]]])
      expect(hash.reject { |key, _value| key == 'a' }).to eq([%w[b B], %w[c C]])
      expect(hash.filter_map { |key, value| value if key == 'a' }).to eq(%w[A])
      expect(hash.lazy.map { |key, _value| key }.first(2)).to eq(%w[a b])
      expect([hash.any? { |_key, value| value == 'C' }, hash.all? { |key, _value| key == 'a' }]).to eq([true, false])
      expect(hash.zip([1, 2, 3]).last).to eq([%w[c C], 3])
      expect(hash.to_set).to include(%w[a A])
      expect(hash.reverse_each.first).to eq(%w[c C])
    end

    it 'has enumerators that can be used again, of the version they were made in' do
      enumerator = hash.each
      expect([enumerator.size, enumerator.next, enumerator.next]).to eq([nil, %w[a A], %w[b B]])
      hash.clear
      2.times { expect(enumerator.to_a).to eq([%w[a A], %w[b B], %w[c C]]) }
      expect([empty.each.to_a, empty.each_key.to_a, empty.each_value.to_a]).to all(be_empty)
    end

    it 'has enumerators of keys and values, of the version they are used in' do
      keys = hash.each_key
      values = hash.each_value
      expect([keys.to_a, values.to_a, keys.size]).to eq([%w[a b c], %w[A B C], 3])
      hash['d'] = 'D'
      expect([keys.to_a, values.to_a]).to eq([%w[a b c d], %w[A B C D]])
    end

    it 'can be left in any way' do
      expect(hash.each { |key, _value| break key }).to eq('a')
      expect(catch(:out) { hash.each { |key, _value| throw :out, key } }).to eq('a')
      expect { hash.each { raise 'enough' } }.to raise_error('enough')
      def hash.find_first = each { |pair| return pair }
      expect(hash.find_first).to eq(%w[a A])
      fiber = Fiber.new { hash.each { |pair| Fiber.yield pair } }
      expect([fiber.resume, fiber.resume]).to eq([%w[a A], %w[b B]])
      expect(hash.to_a.size).to eq(3)
    end

    it 'sees one version, whatever is done meanwhile' do
      seen = []
      hash.each do |key, value|
        seen << [key, value]
        hash[key] = 'new'
        hash['z'] = 'z'
        expect(hash[key]).to eq('new')
        hash.each { |_key, _value| nil }
        hash.close
        hash.delete('c')
        hash.clear if key == 'b'
      end
      expect(seen).to eq([%w[a A], %w[b B], %w[c C]])
      expect(hash.to_a).to eq([%w[c new], %w[z z]].reject { |key, _| key == 'c' })
    end

    it 'keys and values come as arrays' do
      expect([hash.keys, hash.values]).to eq([%w[a b c], %w[A B C]])
      expect([empty.tap(&:clear).keys, empty.values]).to eq([[], []])
    end
  end

  describe 'writing' do
    it 'gives the value back' do
      expect([(hash['x'] = 'X'), hash.store('y', 'Y')]).to eq(%w[X Y])
      expect([hash['x'], hash['y']]).to eq(%w[X Y])
    end

    it 'delete gives the value, of what is pending too, or nil, or what the block gives' do
      expect([hash.delete('a'), hash.delete('a'), hash.delete('a') { |key| key * 2 }]).to eq(['A', nil, 'aa'])
      hash['a'] = 'new'
      hash['a'] = 'newer'
      expect([hash.delete('b'), hash.delete('a'), hash.delete('a')]).to eq(['B', 'newer', nil])
      expect(hash.to_a).to eq([%w[c C]])
      expect([empty.tap(&:clear).delete('x'), empty.delete('x') { 1 }]).to eq([nil, 1])
    end

    it 'a delete of what is not there writes nothing' do
      uid = hash.uid
      hash.delete('x')
      expect([hash.uid, directories.size]).to eq([uid, 1])
    end

    it 'delete_if and keep_if return the hash, reject! and select! nil if nothing was removed' do
      expect(hash.delete_if { |key, _value| key == 'x' }).to equal(hash)
      expect(hash.keep_if { |key, _value| key != 'x' }).to equal(hash)
      expect([hash.reject! { false }, hash.select! { true }]).to eq([nil, nil])
      expect(hash.reject! { |key, _value| key == 'a' }).to equal(hash)
      expect(hash.select! { |_key, value| value == 'B' }).to equal(hash)
      expect(hash.to_a).to eq([%w[b B]])
    end

    it 'does that by enumerators too' do
      hash.delete_if.each { |key, _value| key == 'a' }
      hash.keep_if.each { |key, _value| key != 'b' }
      expect(hash.keys).to eq(%w[c])
      hash.reject!.each { |key, _value| key == 'c' }
      expect(hash.keys).to eq([])
    end

    it 'clear' do
      expect(hash.clear).to equal(hash)
      expect([hash.size, hash['a'], hash.uid, directories, File.symlink?(File.join(path, 'current'))])
        .to eq([0, nil, nil, [], false])
      hash['x'] = 'pending'
      hash.clear
      expect([hash['x'], directories]).to eq([nil, []])
    end

    it 'replace' do
      expect(hash.replace('x' => 'X')).to equal(hash)
      expect(open.to_a).to eq([%w[a A], %w[b B], %w[c C]].first(0)), 'nothing was published yet'
      expect(hash.to_a).to eq([%w[x X]])
      hash.replace([%w[y Y], %w[z Z]])
      expect(hash.to_a).to eq([%w[y Y], %w[z Z]])
      hash.replace(hash)
      expect(hash.to_a).to eq([%w[y Y], %w[z Z]])
    end

    it 'replaces what is pending, too' do
      hash.size
      hash['pending'] = 'p'
      hash.replace('x' => 'X')
      expect(hash.to_a).to eq([%w[x X]])
    end

    it 'replaces nothing if that fails midway' do
      hash.size
      hash['pending'] = 'p'
      expect { hash.replace([%w[x X], ['y', nil]]) }.to raise_error(TypeError)
      expect { hash.replace('x' => 1) }.to raise_error(TypeError)
      expect { hash.replace(nil) }.to raise_error(NoMethodError)
      expect(hash.keys).to eq(%w[a b c pending])
    end

    it 'in_one_step lets nobody publish a part, and goes on after an error' do
      hash.publish
      reading = nil
      step = hash.in_one_step do
        hash['a'] = 'new'
        reading = Thread.new { hash.values_at('a', 'b') }
        sleep 0.01
        hash.delete('b')
        expect([hash.peek('a'), hash.peek('b'), open['a']]).to eq(['new', nil, 'A'])
      end
      expect([step, reading.value]).to match([equal(hash), ['new', nil]])
      expect { hash.in_one_step { hash['c'] } }.to raise_error(ThreadError)
      expect { hash.in_one_step { raise IndexError } }.to raise_error(IndexError)
      expect { hash.in_one_step }.to raise_error(LocalJumpError)
      expect(hash.to_h).to eq('a' => 'new', 'c' => 'C')
    end

    it 'merge! and update' do
      other = Hammerspace.new("#{path}-other").tap { |it| it['b'] = 'theirs' }
      expect(hash.merge!(other)).to equal(hash)
      expect(hash.update([%w[d D]])).to equal(hash)
      expect(hash.to_h).to eq('a' => 'A', 'b' => 'theirs', 'c' => 'C', 'd' => 'D')
      expect { hash.merge! }.to raise_error(ArgumentError)
      expect { hash.merge!({}, {}) }.to raise_error(ArgumentError)
    end

    it 'merge! asks its block about keys that are there, alone, and publishes nothing for that' do
      hash.size
      asked = []
      hash.merge!('a' => '1', 'x' => '2') { |*three| asked << three && "#{three[1]}+#{three[2]}" }
      hash.merge!('x' => '3') { |*three| asked << three && three[2] }
      expect(asked).to eq([%w[a A 1], %w[x 2 3]])
      expect(open.to_a).to eq([%w[a A], %w[b B], %w[c C]])
      expect(hash.values_at('a', 'x')).to eq(%w[A+1 3])
    end

    it 'shift' do
      expect([hash.shift, hash.shift, hash.shift, hash.shift]).to eq([%w[a A], %w[b B], %w[c C], nil])
      hash.default = 'none'
      expect(hash.shift).to eq('none')
    end

    it 'flatten ignores its level' do
      expect([hash.flatten, hash.flatten(5)]).to all(eq(%w[a A b B c C]))
      expect { hash.flatten(1, 2) }.to raise_error(ArgumentError)
    end
  end

  describe 'comparison' do
    it 'is by keys and values, with hashes of both kinds, defaults aside' do
      twin = Hammerspace.new("#{path}-twin", {}, 'none').replace(hash)
      expect([hash == twin, hash.eql?(twin), hash == { 'a' => 'A', 'b' => 'B', 'c' => 'C' }]).to all(be(true))
      expect({ 'a' => 'A', 'b' => 'B', 'c' => 'C' } == hash).to be(true)
      twin.delete('c')
      twin['d'] = 'D'
      expect([hash == twin, hash == { 'a' => 'A' }, hash == { 'a' => 'A', 'b' => 'B', 'c' => 'x' }]).to all(be(false))
    end

    it 'with anything else is false' do
      [nil, 3, 'abc', [%w[a A]], Object.new].each { |thing| expect([hash == thing, hash.eql?(thing)]).to all(be(false)) }
    end
  end

  it 'is taken for a hash where one is wanted' do
    expect([{ 'x' => 'X' }.merge(hash).size, { **hash }]).to eq([4, { 'a' => 'A', 'b' => 'B', 'c' => 'C' }])
  end

  it 'has copies that are pending and closed by themselves' do
    hash.default = 'none'
    copy = hash.dup
    copy['a'] = 'copy'
    expect([hash['a'], copy['a'], copy['x'], copy.backend.frontend]).to eq(['A', 'copy', 'none', copy])
    expect(hash.clone.backend).not_to equal(hash.backend)
  end

  it 'freezes its defaults' do
    hash.freeze
    expect { hash.default = 'x' }.to raise_error(FrozenError)
    expect { hash.default_proc = -> {} }.to raise_error(FrozenError)
    hash['a'] = 'thawed'
    expect(hash['a']).to eq('thawed')
  end

  it 'is what its enumerators give in the end' do
    expect([hash.each.with_index { nil }, hash.each.each { nil }, hash.each_pair.with_object([]).each { nil },
            hash.each_key.each { nil }]).to match([equal(hash), equal(hash), [], equal(hash)])
  end

  it 'cannot be marshalled' do
    hash.size
    expect { Marshal.dump(hash) }.to raise_error(TypeError)
  end

  it 'refuses to be used before it is initialized' do
    expect { described_class.allocate['a'] }.to raise_error(TypeError)
    sparkey = Hammerspace::Backend::Sparkey
    [-> { sparkey.allocate.size }, -> { sparkey.allocate.freeze }, -> { hash.backend.dup.freeze },
     -> { sparkey.new(nil, path).size }, -> { sparkey.new(1, path)['a'] }].each do |use|
      expect(&use).to raise_error(TypeError)
    end
  end
end
