# frozen_string_literal: true

require 'securerandom'

# A directory that processes of the original gem write too: they give no number and no stamp, sync nothing, lock for the
# rename alone, remove what they replaced by name after that, and leave what they did not finish where it is.
RSpec.describe 'The original gem' do
  # Publishes as it does, with files that have what `pairs` has.
  def publish_as_original(pairs, pid = Process.pid)
    uid = "#{pid}_#{SecureRandom.uuid}"
    FileUtils.mkdir_p(File.join(path, uid))
    Dir.mktmpdir do |elsewhere|
      made = Hammerspace.new(elsewhere)
      made.replace(pairs)
      made.close
      %w[spl spi].each { |kind| FileUtils.cp(File.join(elsewhere, "current/hammerspace.#{kind}"), File.join(path, uid)) }
    end
    File.symlink(uid, File.join(path, "#{uid}.tmp"))
    replaced = File.open(File.join(path, 'hammerspace.lock'), File::RDONLY | File::CREAT) do |lock|
      lock.flock(File::LOCK_EX)
      current = File.join(path, 'current')
      before = File.readlink(current) if File.symlink?(current)
      File.rename(File.join(path, "#{uid}.tmp"), current)
      before
    end
    FileUtils.rm_rf(File.join(path, replaced), secure: true) if replaced
    uid
  end

  # What is left of a writer that was killed before it got so far.
  def abandon(pid)
    uid = "#{pid}_#{SecureRandom.uuid}"
    FileUtils.mkdir_p(File.join(path, uid))
    File.binwrite(File.join(path, uid, 'hammerspace.spl'), 'half a log')
    File.symlink(uid, File.join(path, "#{uid}.tmp"))
    long_ago = Time.now - 7200
    [File.join(path, uid, 'hammerspace.spl'), File.join(path, uid)].each { |file| File.utime(long_ago, long_ago, file) }
    uid
  end

  def dead_pid = fork { exit!(0) }.tap { |pid| Process.wait(pid) }

  it 'writes what we read, and go on from' do
    uid = publish_as_original('a' => '1', 'b' => '2')
    expect(File.size(File.join(path, 'hammerspace.lock'))).to eq(0)
    hash = open
    expect([hash.to_h, hash.uid, hash.versions.map(&:number)]).to eq([{ 'a' => '1', 'b' => '2' }, uid, [nil]])
    hash['c'] = '3'
    hash.close
    expect([open.keys, directories.size]).to eq([%w[a b c], 1])
  end

  it 'takes turns with us, and its versions are seen' do
    reader = open
    5.times do |at|
      publish_as_original('at' => "theirs #{at}")
      sleep(0.12)
      reader.refresh
      expect(reader['at']).to eq("theirs #{at}")
      publish('at' => "ours #{at}")
      reader.refresh
      expect([reader['at'], directories.size]).to eq(["ours #{at}", 1])
    end
  end

  it 'leaves orphans, which we remove once their writers are long dead' do
    publish_as_original('a' => '1')
    abandoned = abandon(dead_pid)
    alive = abandon(Process.pid)
    publish('a' => '2')
    left = Dir.children(path)
    expect([left.include?(abandoned), left.include?("#{abandoned}.tmp"), left.include?(alive)]).to eq([false, false, true])
    expect(open['a']).to eq('2')
  end

  it 'may be killed between the rename and the removal' do
    publish_as_original({ 'a' => '1' }, dead_pid)
    before = directories.first
    FileUtils.cp_r(before, "#{before}.kept")
    publish_as_original('a' => '2')
    FileUtils.mv("#{before}.kept", before)
    publish('a' => '3')
    expect([open['a'], directories.size]).to eq(['3', 2])
    [*Dir.glob("#{before}/*"), before].each { |file| File.utime(Time.now - 7200, Time.now - 7200, file) }
    publish('a' => '4')
    expect([open['a'], directories.size, File.exist?(before)]).to eq(['4', 1, false])
  end

  it 'clears as we do' do
    publish_as_original('a' => '1')
    open.clear
    expect([directories, open['a'], publish_as_original('a' => '2'), open['a']]).to match([[], nil, String, '2'])
  end
end
