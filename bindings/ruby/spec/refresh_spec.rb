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

  describe 'while nothing changes' do
    # Whether what the block gives is done in a child that the kernel ends at any system call other than `read` and `write`
    # (seccomp's strict mode). The block itself prepares it, there and unwatched.
    #
    # What the kernel ends is the thread. In Ruby 3.3 and 3.4 a forked child has another one, for the timer, and lives on with it: so
    # its first thread is watched, and the child killed before anybody waits for it.
    def without_system_calls?
      prctl = Fiddle::Function.new(Fiddle.dlopen(nil)['prctl'], [Fiddle::TYPE_INT, *[Fiddle::TYPE_LONG] * 4], Fiddle::TYPE_INT)
      reader, writer = IO.pipe
      child = fork do
        work = yield
        GC.disable
        prctl.call(22, 1, 0, 0, 0)
        work.call
        writer.syswrite('done')
      ensure
        exit!(1)
      end
      writer.close
      sleep(0.01) until first_thread_ended?(child)
      Process.kill(:KILL, child)
      Process.wait(child)
      reader.read == 'done'
    end

    def first_thread_ended?(child) = File.read("/proc/#{child}/stat")[/.*\) (.)/m, 1] == 'Z'

    # To an application that does nothing: one that makes objects has memory to ask for.
    def many_requests
      app = described_class.new(->(env) { env }, hash)
      app.call(nil)
      -> { 1000.times { app.call(nil) } }
    end

    before do
      require 'fiddle'
      publish('a' => '1')
    end

    # Ten times a second it reads where `current` points, for those who publish unannounced. In a child that has just looked
    # the next time is far off; in one that was made to wait it is not, as most are on a busy machine.
    it 'makes no system call' do
      expect(20.times.any? { without_system_calls? { many_requests } }).to be(true)
    end

    it 'makes none in an empty space either, and lookups make none' do
      hash.clear
      lookups = lambda do
        hash['a']
        -> { 1000.times { hash['a'] } }
      end
      [method(:many_requests), lookups].each do |work|
        expect(20.times.any? { without_system_calls?(&work) }).to be(true)
      end
      publish('a' => '2')
      expect([hash.refresh, hash['a']]).to eq([true, '2'])
    end

    it 'would be seen to make one' do
      unseen = without_system_calls? do
        requests = many_requests
        publish('a' => '2')
        requests
      end
      expect(unseen).to be(false)
    end
  end
end
