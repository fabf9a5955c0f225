# frozen_string_literal: true

RSpec.describe Hammerspace::Backend do
  # The least that a backend can be.
  let(:in_memory) do
    Class.new(Hammerspace::Backend::Base) do
      def check_fs; end
      def pairs = (@pairs ||= {})
      def [](key) = pairs.fetch(key) { frontend.default(key) }
      def []=(key, value)
        pairs[key] = value
      end
      def delete(key) = pairs.delete(key)
      def has_key?(key) = pairs.key?(key)
      def each(&block) = block ? pairs.dup.each(&block) && frontend : pairs.each
      def close = nil
      def uid = 'memory'
      def size = pairs.size
    end
  end

  it 'may be another one, given as an option' do
    hash = Hammerspace.new(path, { backend: in_memory, more: 1 }, 'none')
    expect(hash).to be_an_instance_of(Hammerspace::Hash)
    expect([hash.backend.class, hash.backend.options[:more], hash.backend.frontend]).to eq([in_memory, 1, hash])
    hash['a'] = 'A'
    hash.merge!('b' => 'B', 'c' => 'C').update('b' => 'new') { |_key, old, new| old + new }
    expect([hash['a'], hash['x'], hash.key?('a'), hash.to_h, hash.uid, hash.close])
      .to eq(['A', 'none', true, { 'a' => 'A', 'b' => 'Bnew', 'c' => 'C' }, 'memory', nil])
    expect([hash.assoc('a'), hash.rassoc('C'), hash.fetch('x', 1), hash.keys, hash.values, hash.values_at('a', 'x')])
      .to eq([%w[a A], %w[c C], 1, %w[a b c], %w[A Bnew C], %w[A none]])
    expect([hash.each { nil }, hash.each_key { nil }, hash.delete_if { |key, _value| key == 'a' }]).to all(equal(hash))
    expect([hash.map { |key, value| key + value }, hash.shift, hash.size, hash.empty?])
      .to eq([%w[bBnew cC], %w[b Bnew], 1, false])
    expect([hash.in_one_step { hash['y'] = 'Y' }, hash.delete('y')]).to eq([hash, 'Y'])
    expect([hash.replace('z' => 'Z').to_a, hash.clear, hash.length]).to eq([[%w[z Z]], hash, 0])
    expect([hash == {}, hash.flatten, hash.has_value?('Z'), hash.select! { true }]).to eq([true, [], false, nil])
  end

  it 'is published, refreshed and copied if it can no more than be closed' do
    closable = Class.new(in_memory) do
      attr_accessor :others
      def uid = (@uid ||= others)
      def close = @uid = nil
    end
    hash = Hammerspace.new(path, backend: closable)
    hash.backend.others = 'first'
    expect([hash.refresh, hash.uid, hash.publish]).to eq([false, 'first', nil])
    expect([hash.uid, hash.backend.others = 'second', hash.refresh, hash.refresh, hash.uid])
      .to eq(['first', 'second', true, false, 'second'])
    expect(hash.dup.backend).to be_a(closable)
  end

  it 'says what a backend lacks' do
    hash = Hammerspace.new(path, backend: Class.new(Hammerspace::Backend::Base))
    expect { hash['a'] }.to raise_error(NotImplementedError, /\[\]/)
    expect { hash.uid }.to raise_error(NotImplementedError)
  end

  it 'may be a subclass of the native one' do
    shouting = Class.new(Hammerspace::Backend::Sparkey) { def [](key) = super&.upcase }
    hash = Hammerspace.new(path, backend: shouting)
    hash['a'] = 'loud'
    expect([hash['a'], hash.backend['a'], hash.to_a]).to eq(['LOUD', 'LOUD', [%w[a loud]]])
  end

  describe Hammerspace::Backend::Sparkey do
    it 'can be used like its hash' do
      hash = Hammerspace.new(path, { backend: described_class }, 'none')
      hash.backend['a'] = 'A'
      expect([hash.backend['a'], hash.backend['x'], hash.backend.map(&:last), hash['a'], hash.backend.clear])
        .to eq(['A', 'none', %w[A], 'A', hash])
    end

    it 'looks at the file system once, before there is a lock file' do
      probes = []
      watching = Class.new(described_class) do
        define_method(:flock_works?) { probes << :flock && super() }
        define_method(:dir_cleanup_works?) { probes << :cleanup && super() }
      end
      expect { Hammerspace.new(path, backend: watching)['a'] = 'b' }.not_to output.to_stderr
      Hammerspace.new(path, backend: watching)
      expect([probes, Dir.exist?(path)]).to eq([%i[flock cleanup], true])
      expect(Dir.children(path).grep(/trial/)).to eq([])
    end

    it 'warns of file systems that are not fit' do
      allow_any_instance_of(described_class).to receive(:flock_works?).and_return(false)
      allow_any_instance_of(described_class).to receive(:dir_cleanup_works?).and_return(false)
      expect { open }.to output(/\e\[31m.*locks.*\n.*directories/).to_stderr
    end

    it 'does not warn where it may not try', if: Process.uid.zero? do
      FileUtils.mkdir_p(path, mode: 0o555)
      File.chmod(0o711, File.dirname(path))
      in_child do
        Process::Sys.setuid(65_534)
        expect { open['a'] }.not_to output.to_stderr
      end
    end

    it 'gives subclasses the locks of the protocol' do
      backend = open.backend
      expect(backend.send(:lock_for_write) { backend.send(:lock_path) }).to eq(File.join(path, 'hammerspace.lock'))
      expect(backend.send(:lock_for_read) { 1 }).to eq(1)
    end
  end
end
