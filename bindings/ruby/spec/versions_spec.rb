# frozen_string_literal: true

# Who sees what, and when; and what lies on disk meanwhile.
RSpec.describe 'Versions' do
  let(:writer) { open }
  let(:reader) { open }

  it 'are read until close, refresh or a write' do
    publish('a' => '1')
    expect(reader['a']).to eq('1')
    publish('a' => '2')
    expect([reader['a'], reader.to_a, open['a']]).to eq(['1', [%w[a 1]], '2'])
    expect([reader.refresh, reader['a'], reader.refresh]).to eq([true, '2', false])
    publish('a' => '3')
    expect([reader.close, reader['a']]).to eq([nil, '3'])
    publish('a' => '4', 'b' => '4')
    reader['c'] = '5'
    expect(reader.to_h).to eq('a' => '4', 'b' => '4', 'c' => '5')
  end

  it 'are private until close, publish or a read' do
    writer['a'] = '1'
    expect(open['a']).to be_nil
    writer.close
    expect(open['a']).to eq('1')
    writer['a'] = '2'
    expect([writer.publish, writer.publish, open['a']]).to eq([2, nil, '2'])
    writer['a'] = '3'
    writer.size
    expect(open['a']).to eq('3')
    writer['a'] = '4'
    expect(writer.discard).to equal(writer)
    expect([writer['a'], open['a']]).to eq(%w[3 3])
  end

  it 'are seen by a hash that found nothing before, as soon as there are some' do
    expect(reader['a']).to be_nil
    publish('a' => '1')
    expect(reader['a']).to eq('1')
  end

  it 'are written as a whole, and the last one wins' do
    publish('a' => '0')
    one = open
    two = open
    one['a'] = 'one'
    two['a'] = 'two'
    two['b'] = 'two'
    two.close
    one.close
    expect(open.to_h).to eq('a' => 'one')
  end

  it 'come back after a clear if they were begun before' do
    publish('a' => '1')
    writer['b'] = '2'
    reader.clear
    writer.close
    expect(open.to_h).to eq('a' => '1', 'b' => '2')
  end

  it 'are one directory, one link and one lock on disk' do
    publish('a' => '1')
    expect(reader['a']).to eq('1')
    reader.each do
      publish('a' => '2')
      expect(directories.size).to eq(1)
    end
    expect(Dir.children(path).sort).to eq([reader.tap(&:close).uid, 'current', 'hammerspace.lock'].sort)
    expect(File.readlink(File.join(path, 'current'))).to eq(reader.uid)
    expect(reader.uid).to match(/\A#{Process.pid}_[\h-]{36}\z/).and(satisfy { |uid| uid.encoding == Encoding::UTF_8 })
    expect(Dir.children(File.join(path, 'current'))).to include('hammerspace.spl', 'hammerspace.spi')
  end

  it 'have the modes that the umask leaves' do
    before = File.umask(0o027)
    publish('a' => '1')
    modes = [path, directories.first, File.join(path, 'current/hammerspace.spl'), File.join(path, 'hammerspace.lock')]
            .map { |file| File.stat(file).mode & 0o777 }
    expect(modes).to eq([0o750, 0o750, 0o640, 0o640])
  ensure
    File.umask(before)
  end

  it 'leave no directory when they are given up, cleared or collected' do
    writer['a'] = '1'
    expect(directories.size).to eq(1)
    writer.clear
    expect(directories).to eq([])
    writer['a'] = '1'
    writer.discard
    expect(directories).to eq([])
    100.times { |at| Hammerspace.new("#{path}/#{at}")['a'] = '1' }
    GC.start
    left = Dir.glob("#{path}/*/*_*-*").size
    expect(left).to be < 10
  end

  it 'leave none when a process ends or dies' do
    publish('a' => '1')
    write = 'Hammerspace.new(ARGV[0])["b"] = "2"'
    system(RbConfig.ruby, *$LOAD_PATH.map { |at| "-I#{at}" }, '-rhammerspace', '-e', write, path)
    expect([directories.size, open.to_a]).to eq([1, [%w[a 1]]])
    child = fork do
      open['b'] = '2'
      Process.kill(:KILL, Process.pid)
    end
    Process.wait(child)
    expect(directories.size).to eq(2)
    publish('a' => '3')
    expect(directories.size).to eq(1)
  end

  it 'are kept where that is asked for, to go back to' do
    keeping = open(keep: 3)
    4.times do |at|
      keeping['a'] = at.to_s
      keeping.close
    end
    expect(keeping.versions.map { |version| [version.number, version.current?, version.entries] })
      .to eq([[4, true, 1], [3, false, 1], [2, false, 1]])
    expect([keeping.rollback, keeping['a'], keeping.rollback(2), open['a']]).to eq([3, '2', 2, '1'])
    expect { keeping.rollback(1) }.to raise_error(Hammerspace::MissingError)
    [0, -1].each { |none| expect { keeping.rollback(none) }.to raise_error(Hammerspace::InvalidError, /rollback: #{none} is no/) }
    expect(keeping.versions.first.published).to be_within(60).of(Time.now)
  end

  it 'are deleted from by what is current, not by what is read' do
    publish('a' => '1')
    expect(reader['a']).to eq('1')
    publish('b' => '2')
    expect([reader.delete('x'), reader['a']]).to eq([nil, '1'])
    expect([reader.refresh, reader['a'], reader['b']]).to eq([true, nil, '2'])
    publish('c' => '3')
    expect([reader.delete('c'), reader.to_a]).to eq(['3', []])
  end

  it 'can be cleared under a reader, which then moves on' do
    publish('a' => '1')
    expect(reader['a']).to eq('1')
    writer.clear
    expect([reader['a'], reader.delete('a'), reader['a'], reader.refresh, reader['a'], reader.refresh])
      .to eq(['1', nil, '1', true, nil, false])
  end

  it 'are written by many processes at once, and stay whole' do
    children = Array.new(8) do |id|
      fork do
        10.times do
          hash = open(durability: :none)
          10.times { |key| hash[key.to_s] = id.to_s }
          hash.close
        end
        exit!(0)
      end
    end
    seen = 0
    until children.empty?
      children.reject! { |child| Process.wait(child, Process::WNOHANG) }
      hash = open
      values = hash.values
      hash.close
      next if values.empty?

      seen += 1
      expect([values.size, values.uniq.size]).to eq([10, 1])
    end
    expect([seen.positive?, directories.size]).to eq([true, 1])
  end

  it 'can be replaced with nobody seeing nothing' do
    publish('a' => '1')
    child = fork do
      hash = open(durability: :none)
      100.times { |at| hash.replace('a' => at.to_s).close }
      exit!(0)
    end
    until Process.wait(child, Process::WNOHANG)
      expect(open['a']).not_to be_nil
    end
  end

  it 'may be large' do
    hash = open(durability: :none)
    150_000.times { |at| hash["key #{at}"] = "value #{at} #{'x' * (at % 100)}" }
    hash.close
    expect([hash.size, hash['key 77777'], hash.first, hash.keys.size]).to eq(
      [150_000, "value 77777 #{'x' * 77}", ['key 0', 'value 0 '], 150_000])
    hash.delete_if { |key, _value| key.end_with?('7') }
    expect([hash.size, hash['key 77777'], hash['key 77778']]).to eq([135_000, nil, "value 77778 #{'x' * 78}"])
  end

  it 'may be compressed' do
    %i[snappy zstd none].each do |compression|
      hash = open(compression: compression, block_size: 1024, frozen: compression == :zstd)
      hash.replace(Array.new(1000) { |at| ["key #{at}", "value #{at}" * 10] })
      expect([hash['key 7'], hash.size, hash.first, hash['x']]).to eq(['value 7' * 10, 1000, ['key 0', 'value 0' * 10], nil])
      hash['key 7'] = 'new'
      expect([hash.delete('key 7'), hash.delete('key 8'), hash.delete('key 7')]).to eq(['new', 'value 8' * 10, nil])
      expect([hash.size, hash.values.map(&:frozen?).uniq]).to eq([998, [compression == :zstd]])
    end
    expect(File.size(File.join(path, 'current/hammerspace.spl'))).to be > 80_000
  end
end
