# frozen_string_literal: true

RSpec.describe Hammerspace::Error do
  def damage(file, at, bytes)
    File.open(File.join(path, 'current', file), 'r+b') do |open|
      open.seek(at)
      open.write(bytes)
    end
  end

  it 'has a subclass for each kind, and is caught by rescue' do
    kinds = described_class.subclasses.map { |subclass| subclass.allocate.kind }
    expect(kinds).to contain_exactly(:corrupt, :unsupported, :busy, :full, :invalid, :permission, :missing, :owner_dead, :io,
                                     :changed, :internal)
    expect(described_class.superclass).to be(StandardError)
  end

  it 'says where, what, and what to do' do
    publish('a' => '1')
    damage('hammerspace.spl', 0, "\0\0\0\0")
    expect { open['a'] }.to raise_error(Hammerspace::CorruptError) { |error|
      expect([error.kind, error.file, error.offset])
        .to eq([:corrupt, "#{path}/#{File.readlink("#{path}/current")}/hammerspace.spl", 0])
      expect([error.finding, error.remedy]).to all(be_a(String))
      expect(error.message).to include(error.finding).and include(error.remedy)
    }
  end

  it 'is raised for damage, which replace and clear mend' do
    publish('a' => '1')
    File.truncate(File.join(path, 'current/hammerspace.spi'), 50)
    hash = open
    [-> { hash['a'] }, -> { hash.size }, -> { hash.to_a }, -> { hash['b'] = '2' }, -> { hash.refresh }].each do |use|
      expect(&use).to raise_error(Hammerspace::CorruptError)
    end
    hash.replace('b' => '2')
    expect(hash.to_a).to eq([%w[b 2]])
    File.truncate(File.join(path, 'current/hammerspace.spl'), 50)
    expect(open.clear.to_a).to eq([])
  end

  it 'leaves a reader at its version when the next one is damaged' do
    publish('a' => '1')
    hash = open
    expect(hash['a']).to eq('1')
    publish('a' => '2')
    File.truncate(File.join(path, 'current/hammerspace.spl'), 50)
    expect { hash.refresh }.to raise_error(Hammerspace::CorruptError)
    expect(hash['a']).to eq('1')
  end

  it 'is raised for damage met on the way, and the walk ends' do
    publish(Array.new(100) { |at| ["key #{at}", 'x' * 50] })
    damage('hammerspace.spl', 2000, "\xff" * 200)
    hash = open
    seen = []
    expect { hash.each_key { |key| seen << key } }.to raise_error(Hammerspace::CorruptError)
    # What lies before the damage, and no more.
    expect(seen).to eq(Array.new(34) { |at| "key #{at}" })
    expect { hash.keys }.to raise_error(Hammerspace::CorruptError)
  end

  it 'is raised for options that cannot be' do
    [{ compression: :lz4 }, { durability: 1 }, { keep: 0 }, { keep: '2' }, { block_size: -1 },
     { block_size: 2**40 }].each do |options|
      expect { open(**options) }.to raise_error(Hammerspace::InvalidError), options.inspect
    end
    ['utf-9', 'internal', :binary].each do |name|
      expect { open(encoding: name) }.to raise_error(Hammerspace::InvalidError, /\Aencoding: #{name.inspect}/)
    end
    expect { open(compression: :zstd, block_size: 1)['a'] = 'b' }.to raise_error(Hammerspace::InvalidError)
  end

  it 'is raised for a lock file that is somebody else\'s, and for newer layouts' do
    FileUtils.mkdir_p(path)
    File.write(File.join(path, 'hammerspace.lock'), "somebody else's")
    expect { open['a'] }.to raise_error(Hammerspace::CorruptError, /hammerspace.lock/)
    FileUtils.rm_rf(path)
    publish('a' => '1')
    damage('hammerspace.spl', 8, "\xff")
    expect { open['a'] }.to raise_error(Hammerspace::UnsupportedError)
  end

  it 'is raised for a path that is none' do
    File.write(path, '')
    [{}, { create: false }].each do |options|
      expect { open(**options)['a'] }.to raise_error(Hammerspace::IOError) { |error| expect(error.file).to eq(path) }
    end
    expect { Hammerspace.new("a\0b") }.to raise_error(ArgumentError)
  end

  # A file that may not grow is a full disk to whoever writes it.
  it 'leaves what is pending as it was where a disk is full, until there is room' do
    publish('a' => '1')
    answer = in_child do
      trap('XFSZ', 'IGNORE')
      hash = open
      hash['b'] = 'important' * 100_000
      Process.setrlimit(:FSIZE, 1000, Process::RLIM_INFINITY)
      uses = [-> { hash.publish }, -> { hash.close }, -> { Thread.new { hash['a'] }.tap { |it| it.report_on_exception = false }.value },
              -> { hash.publish }, -> { hash.rollback }, -> { hash.close }]
      refused = uses.map do |use|
        use.call
      rescue Hammerspace::Error => error
        error.kind
      end
      Process.setrlimit(:FSIZE, Process::RLIM_INFINITY)
      hash['c'] = '3'
      [refused, hash.publish, hash['b'].size, hash.keys.sort]
    end
    expect(answer).to eq([[:full] * 6, 2, 900_000, %w[a b c]])
  end

  it 'is raised for a full disk until what is pending is discarded' do
    publish('a' => '1')
    answer = in_child do
      trap('XFSZ', 'IGNORE')
      hash = open
      hash['b'] = 'important' * 100
      Process.setrlimit(:FSIZE, 500, Process::RLIM_INFINITY)
      refused = begin
        hash.close
      rescue Hammerspace::FullError
        true
      end
      [refused, hash.discard.publish, hash['b'], hash['a']]
    end
    expect(answer).to eq([true, nil, nil, '1'])
    expect(directories.size).to eq(1)
  end

  it 'is raised for a directory that may not be made', if: Process.uid.zero? do
    refused = in_child do
      Process::Sys.setuid(65_534)
      open
    rescue Hammerspace::PermissionError => error
      error.file
    end
    expect(refused).to eq(path)
  end

  it 'does not keep those from reading who may only read', if: Process.uid.zero? do
    publish('a' => '1')
    FileUtils.chmod(0o555, path)
    File.chmod(0o711, File.dirname(path))
    answer = in_child do
      Process::Sys.setuid(65_534)
      hash = open
      refused = begin
        hash['b'] = '2'
      rescue Hammerspace::PermissionError => error
        error.kind
      end
      [hash['a'], refused]
    end
    expect(answer).to eq(['1', :permission])
  end
end
