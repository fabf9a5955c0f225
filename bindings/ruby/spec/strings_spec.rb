# frozen_string_literal: true

# How bytes become strings: encodings, copies, frozen parts of the file.
RSpec.describe 'Strings' do
  let(:long) { 'value ' * 30 }

  describe 'by default' do
    it 'are binary, and found by their bytes' do
      hash = open
      hash['é'] = 'ü'
      expect([hash['é'], hash['é'.b], hash['é'.encode('ISO-8859-1')]]).to eq(['ü'.b, 'ü'.b, nil])
      expect(hash.to_a.flatten.map(&:encoding).uniq).to eq([Encoding::BINARY])
      expect([hash.key?('é'), hash.has_key?('é'), hash.assoc('é')]).to eq([true, true, ['é'.b, 'ü'.b]])
      expect([hash.value?('ü'), hash.value?('ü'.b), hash == { 'é' => 'ü' }, hash == { 'é'.b => 'ü'.b }])
        .to eq([false, true, false, true])
    end
  end

  # Copies may lie side by side in memory; nobody must notice.
  describe 'that are copies' do
    let(:pairs) { Array.new(300) { |at| ["the key with the number #{at}", at.to_s * 60] }.to_h }
    let(:ways) { { iteration: :values.to_proc, lookups: ->(hash) { pairs.keys.map { |key| hash[key] } } } }

    before { publish(pairs) }

    it 'are their own, however the others are changed' do
      ways.each_value do |way|
        texts = way.call(open).each_with_index.map { |text, at| at.even? ? text << 'more' : text }
        texts.each_slice(7) { |slice| slice.first.setbyte(0, 33) }
        wanted = pairs.values.each_with_index.map { |text, at| at.even? ? "#{text}more" : text.dup }
        wanted.each_slice(7) { |slice| slice.first.setbyte(0, 33) }
        expect(texts).to eq(wanted.map(&:b))
      end
    end

    it 'stay what they are, whatever comes after them' do
      ways.each_value do |way|
        hash = open
        kept = way.call(hash).select.with_index { |_, at| (at % 20).zero? }
        3.times { way.call(hash).each { |value| value << value } }
        hash.close
        GC.start
        expect(kept).to eq(pairs.values.each_slice(20).map { |slice| slice.first.b })
      end
    end

    it 'do not go where others are by now' do
      expect(survives?('-e', <<~RUBY, path)).to be(true)
        require 'hammerspace'
        others = Array.new(20) do
          hash = Hammerspace.new(ARGV.first)
          hash['the key with the number 0']
          GC.start
          others = Array.new(1000) { '-' * 1024 }
          hash.each_key { |key| hash[key] }
          others
        end
        exit others.flatten.uniq.size == 1
      RUBY
    end

    it 'need no file' do
      hash = open
      texts = ways.values.map { |way| way.call(hash) }
      hash.close
      FileUtils.rm_rf(path)
      GC.start
      expect(texts).to all(eq(pairs.values.map(&:b)))
    end

    it 'can be keys, symbols and C strings' do
      open(encoding: 'UTF-8').each do |key, value|
        expect([{ key => 1 }[key], key.to_sym.to_s, File.join(key)]).to eq([1, key, key])
        expect(value.to_i).to eq(Integer(pairs[key]))
      end
    end

    it 'are terminated in wide encodings too' do
      texts = open(encoding: 'UTF-32LE').values
      expect(texts.map { |text| text.dup.force_encoding('BINARY') }).to eq(pairs.values.map(&:b))
      expect(texts.map(&:encoding).uniq).to eq([Encoding::UTF_32LE])
    end
  end

  describe 'with an encoding' do
    it 'have it' do
      ['UTF-8', Encoding::UTF_8].each do |encoding|
        [false, true].each do |frozen|
          hash = open(encoding: encoding, frozen: frozen)
          pairs = { 'é' => 'ü', 'long' => 'ü' * 30 }
          hash.replace(pairs)
          expect([hash['é'], hash.to_h, hash.values, hash.first]).to eq(['ü', pairs, pairs.values, %w[é ü]])
          expect([hash.value?('ü'), hash == pairs, hash['long'].valid_encoding?]).to all(be(true))
          expect(hash.delete('é')).to eq('ü')
        end
      end
      expect(open(encoding: 'Shift_JIS')['long'].encoding).to eq(Encoding::Shift_JIS)
    end

    it 'have it where Ruby has more than its objects have room for' do
      skip 'this Ruby makes no encodings' unless Encoding.method_defined?(:replicate)
      publish('long' => long)
      expect(survives?('-W0', '-e', <<~RUBY, path)).to be(true)
        require 'hammerspace'
        last = Array.new(128) { |at| Encoding::UTF_8.replicate("another \#{at}") }.last
        texts = [false, true].map { |frozen| Hammerspace.new(ARGV.first, encoding: last, frozen: frozen)['long'] }
        exit texts.map { |text| [text.encoding, text.frozen?] } == [[last, false], [last, true]]
      RUBY
    end

    it 'have room for as many NULs as it has' do
      publish((1..40).to_h { |at| [at.to_s, 'x' * (4 * at)] })
      expect(survives?('-e', <<~RUBY, path)).to be(true)
        require 'hammerspace'
        Hammerspace.new(ARGV.first, encoding: 'UTF-32LE').values.each { |text| text.force_encoding('BINARY') << 'abc' }
        GC.start
      RUBY
      overrun = "require 'fiddle'; at = Fiddle.malloc(24); Fiddle::Pointer.new(at)[24] = 1; Fiddle.free(at)"
      expect(survives?('-e', overrun, err: File::NULL)).to be(false)
    end

    it 'must be one that there is' do
      [1, 'no such thing', Object.new].each do |thing|
        expect { open(encoding: thing) }.to raise_error(Hammerspace::InvalidError, /encoding/)
      end
    end
  end

  describe 'frozen ones' do
    let(:hash) { open(frozen: true).replace('short' => 'value', 'long' => long, 'empty' => '', 'last' => long) }

    # What the collector counts as memory of the string's own.
    def size_of(text)
      require 'objspace'
      ObjectSpace.memsize_of(text)
    end

    it 'are frozen, keys and values, and the same as others' do
      expect(hash.to_h).to eq('short' => 'value', 'long' => long, 'empty' => '', 'last' => long)
      expect([hash['short'], hash['long'], hash['empty'], *hash.to_a.flatten, *hash.keys, *hash.values]).to all(be_frozen)
      expect { hash['long'] << '!' }.to raise_error(FrozenError)
    end

    it 'take no memory of their own' do
      expect(size_of(hash['long'])).to eq(size_of('value'.dup))
      # What the guide says of how to get one that has.
      expect(size_of(hash['long'] + '')).to be > size_of(hash['long'])
    end

    it 'can be used as any string' do
      text = hash['long']
      copy = text.dup
      copy << '!'
      expect([copy, text, text[0, 5], text[6, 100], text.upcase, text + '!', "#{text}!", text.hash])
        .to eq(["#{long}!", long, 'value', long[6, 100], long.upcase, "#{long}!", "#{long}!", long.hash])
      expect([{ text => 1 }[long], text.to_sym, text.b, text.encode('UTF-16LE', 'UTF-8').bytesize, text.sub('value', 'x')])
        .to eq([1, long.to_sym, long, long.size * 2, long.sub('value', 'x')])
      expect([text.unpack1('a5'), text.each_char.first, text.scan(/value/).size, Marshal.load(Marshal.dump(text)), -text])
        .to eq(['value', 'v', 30, long, long])
      # What C code wants to end with a NUL.
      expect { File.stat(text) }.to raise_error(SystemCallError)
      expect([text.to_i, text.unpack1('Z*'), ENV.fetch(text, 1), text]).to eq([0, long, 1, long])
      expect { text.force_encoding('UTF-8') }.to raise_error(FrozenError)
      expect(text).to eq(long)
    end

    it 'outlive the hash, its version, and its directory' do
      texts = hash.values
      parts = texts.map { |text| text[3..] }
      hash.clear
      hash.close
      FileUtils.rm_rf(path)
      GC.start
      expect([texts, parts]).to eq([['value', long, '', long], ['ue', long[3..], nil, long[3..]]])
    end

    it 'let go of their version when they go' do
      mapped = -> { File.read('/proc/self/maps').scan("#{path}/").size }
      keep = hash['long']
      most = Array.new(30) do |at|
        hash.replace('long' => "#{long}#{at}")
        hash['long']
        mapped.call
      end.max
      1000.times { +'something else on the stack' }
      GC.start
      expect([most > 10, mapped.call < 10]).to eq([true, true]), "#{most} mappings, then #{mapped.call}"
      expect(keep).to eq(long)
    end

    it 'keep few versions that nobody needs, though no full collection comes' do
      mapped = Array.new(150) do |at|
        hash.replace('long' => "#{long}#{at}")
        hash['long']
        # So that its version counts as old.
        4.times { GC.start(full_mark: false) }
        File.read('/proc/self/maps').scan("#{path}/").size
      end
      expect(mapped.max).to be < 100
    end

    it 'are copies where no byte follows in the file' do
      4.times do |at|
        size = 4096 - 84 - 2 - 2 - at
        hash.replace('k' => 'x' * size)
        expect(hash['k']).to eq('x' * size)
        expect { File.stat(hash['k']) }.to raise_error(SystemCallError)
      end
    end
  end
end
