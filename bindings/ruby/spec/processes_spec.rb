# frozen_string_literal: true

require_relative 'everything'

# Forks, threads, Ractors, and a collector that runs whenever it can.
RSpec.describe 'Processes' do
  let(:big) { 'x' * 3_000_000 }

  describe 'forks' do
    it 'share what is read, and move on by themselves' do
      publish('a' => '1', 'long' => 'y' * 100)
      hash = open(frozen: true)
      text = hash['long']
      walk = hash.each
      walk.next
      answer = in_child do
        before = [hash['a'], text, walk.next.first]
        publish('a' => '2')
        before + [hash['a'], hash.refresh, hash['a']]
      end
      expect(answer).to eq(['1', 'y' * 100, 'long', '1', true, '2'])
      expect([hash['a'], text, walk.next.first, hash.refresh, hash['a']]).to eq(['1', 'y' * 100, 'long', true, '2'])
    end

    # All that a child may do with what its parent has pending: end, in each way; read; write; close.
    {
      'ends' => ->(_hash) {},
      'ends at once' => ->(_hash) { exit!(0) },
      'is killed' => ->(_hash) { Process.kill(:KILL, Process.pid) },
      'reads' => ->(hash) { hash.to_a },
      'writes' => ->(hash) { hash['c'] = '3' },
      'closes' => ->(hash) { hash.close },
      'clears what is pending' => ->(hash) { hash.discard },
      'collects' => ->(_hash) { GC.start }
    }.each do |name, act|
      it "leave what is pending to the parent when the child #{name}" do
        publish('a' => '1')
        hash = open
        hash['big'] = big
        hash['b'] = '2'
        Process.wait(fork do
          $stderr.reopen(File::NULL)
          act.call(hash)
        end)
        hash['d'] = '4'
        hash.close
        expect([open.keys, open['big'].size, directories.size]).to eq([%w[a big b d], 3_000_000, 1])
      end
    end

    it 'refuse what a child writes, until it lets go of what is not its own' do
      publish('a' => '1')
      hash = open
      hash['b'] = '2'
      answer = in_child do
        refusals = [-> { hash['c'] = '3' }, -> { hash.publish }, -> { hash.replace({}) }, -> { hash.close },
                    -> { hash.close }].map do |act|
          act.call
          nil
        rescue Hammerspace::InvalidError => error
          error.message[/the parent's/]
        end
        hash['c'] = '3'
        hash.close
        refusals + [hash.to_h]
      end
      expect(answer).to eq([*["the parent's"] * 4, nil, { 'a' => '1', 'c' => '3' }])
      hash.close
      expect(open.to_h).to eq('a' => '1', 'b' => '2')
    end

    it 'let a child read what is published while its parent has something pending' do
      publish('a' => '1')
      hash = open
      hash['a'] = '2'
      expect(in_child { [hash['a'], hash.close, (hash['a'] = '3'), hash.discard.to_a] }).to eq(['1', nil, '3', [%w[a 1]]])
      expect(hash['a']).to eq('2')
    end

    it 'happen while another thread publishes' do
      hash = open(durability: :none)
      thread = Thread.new { 300.times { |at| hash.replace('a' => at.to_s, 'big' => big[0, 200_000]).publish } }
      children = 0
      while thread.alive?
        expect(in_child do
          hash['a'].nil? || hash['a'].to_i >= 0
        rescue Hammerspace::InvalidError
          true
        end).to be(true)
        children += 1
      end
      thread.join
      expect([hash['a'], children.positive?, directories.size]).to eq(['299', true, 1])
    end
  end

  describe 'threads' do
    it 'may share one hash, whatever they do with it' do
      hash = open(durability: :none)
      hash.replace(Array.new(100) { |at| ["key #{at}", 'value'] })
      hash.size
      threads = Array.new(6) do |id|
        Thread.new do
          30.times do |at|
            case (at + id) % 6
            when 0 then hash["own #{id}"] = at.to_s
            when 1 then hash.close
            when 2 then raise 'lost' unless hash.each.count { |key, _value| key.start_with?('key') } == 100
            when 3 then hash.refresh
            when 4 then hash.merge!("more #{id}" => 'x')
            else hash.delete("more #{id}")
            end
            raise 'lost' unless hash["key #{at}"] == 'value'
          end
        end
      end
      threads.each(&:join)
      expect([hash.size >= 106, directories.size]).to eq([true, 1])
      6.times { |id| expect(hash["own #{id}"]).not_to be_nil }
    end

    it 'go on while another publishes' do
      hash = open(durability: :none)
      200_000.times { |at| hash["key #{at}"] = 'value' }
      ticks = 0
      ticker = Thread.new { loop { (ticks += 1) && sleep(0.001) } }
      before = ticks
      hash.publish
      expect(ticks).to be > before
      ticker.kill
    end

    it 'may be killed in the middle' do
      hash = open(durability: :none)
      hash['a'] = '0'
      20.times do |at|
        thread = Thread.new { loop { (hash['a'] = 'x' * 100_000) && hash.size } }
        sleep(0.002 * (at % 5))
        thread.kill.join
      end
      hash['a'] = 'last'
      hash.close
      expect([hash.to_a, directories.size]).to eq([[%w[a last]], 1])
    end
  end

  # While one thread is at work on a hash without Ruby's lock, others wait for it; here it looks through many versions.
  describe 'who waits for a hash' do
    # A hash with many versions, whose listing takes a while.
    def slow
      hash = open(durability: :none, keep: 50)
      50.times { |at| hash.replace('a' => at.to_s).publish }
      hash
    end

    # Runs the block while others are in `versions`, or wait for their turn.
    def during_versions(hash)
      busy = Array.new(3) { Thread.new { hash.versions } }
      Thread.pass until busy.all? { |thread| thread.stop? || !thread.alive? }
      yield
    ensure
      busy.each(&:join)
    end

    it 'finds what is pending' do
      hash = slow
      answers = Array.new(10) do
        hash['x'] = '1'
        during_versions(hash) { [hash.peek('x'), hash.delete('x')] }
      end
      expect([answers.uniq, hash['x']]).to eq([[%w[1 1]], nil])
    end

    it 'closes nothing if it is interrupted, loses nothing, and frees nothing that others use' do
      expect(survives?('-e', <<~RUBY, path)).to be(true)
        require 'hammerspace'
        hash = Hammerspace.new(ARGV.first, durability: :none, keep: 50)
        50.times { |at| hash.replace('a' => at.to_s).publish }
        20.times do |at|
          hash['b'] = at.to_s
          busy = Array.new(3) { Thread.new { hash.versions } }
          Thread.pass
          closing = Thread.new { hash.close }
          Thread.pass
          closing.kill.join
          exit false unless busy.map { |thread| thread.value.size }.uniq == [50] && hash['b'] == at.to_s
        end
      RUBY
    end

    it 'leaves no directory if it is interrupted in replace' do
      hash = slow
      before = directories.size
      10.times do
        busy = []
        pairs = Enumerator.new do |to|
          to.yield('a', 'new')
          3.times { busy << Thread.new { hash.versions } }
          Thread.pass
        end
        replacing = Thread.new { hash.replace(pairs) }
        Thread.pass until busy.size == 3
        Thread.pass
        replacing.kill.join
        busy.each(&:join)
        hash.discard
      end
      expect(directories.size).to eq(before)
    end

    it 'is refused by Ruby in a trap handler, which changes nothing' do
      hash = open
      hash['a'] = '1'
      refusal = nil
      before = trap('USR1') do
        hash.close
      rescue ThreadError => error
        refusal = error
      end
      Process.kill('USR1', Process.pid)
      sleep(0.001) until refusal
      expect([open['a'], hash.close, open['a']]).to eq([nil, nil, '1'])
    ensure
      trap('USR1', before || 'DEFAULT')
    end

    it 'may close when the process ends, whatever a signal began' do
      child = fork do
        hash = open
        hash['a'] = '1'
        trap('TERM') { exit }
        at_exit { hash.close }
        Process.kill('TERM', Process.pid)
        sleep
      end
      Process.wait(child)
      expect(open['a']).to eq('1')
    end
  end

  describe 'Ractors' do
    around do |example|
      warnings = Warning[:experimental]
      Warning[:experimental] = false
      example.run
      Warning[:experimental] = warnings
    end

    it 'may share a hash, which then stays as it is' do
      publish('a' => '1', 'long' => 'y' * 100)
      [false, true].each do |frozen|
        hash = Ractor.make_shareable(open(frozen: frozen))
        answers = Array.new(3) do
          Ractor.new(hash) { |mine| Array.new(1000) { [mine['a'], mine['long'], mine.size, mine['x']] }.uniq }
        end
        expect(answers.map(&:take)).to all(eq([['1', 'y' * 100, 2, nil]]))
        [-> { hash['b'] = '2' }, -> { hash.clear }, -> { hash.refresh }, -> { hash.close },
         -> { hash.replace({}) }].each do |change|
          expect(&change).to raise_error(FrozenError)
        end
        expect([hash.to_h, hash.dup.to_h]).to all(eq('a' => '1', 'long' => 'y' * 100))
        expect(hash.dup.tap { |copy| copy['b'] = '2' }.discard.size).to eq(2)
      end
    end

    it 'may share one that was frozen before, and written after that' do
      hash = open.freeze
      hash['a'] = '1'
      expect(hash['a']).to eq('1')
      Ractor.make_shareable(hash)
      expect([Ractor.new(hash) { |mine| mine['a'] }.take, hash.backend.frozen?]).to eq(['1', true])
      expect { hash['b'] = '2' }.to raise_error(FrozenError)
    end

    # Memory for copies is taken without a lock.
    it 'do not write into the copies of each other' do
      publish(pairs = Array.new(500) { |at| [at.to_s, at.to_s * 60] }.to_h)
      hash = open
      hash['1']
      answers = Array.new(2) do
        Ractor.new(Ractor.make_shareable(hash), Ractor.make_shareable(pairs)) do |mine, wanted|
          Array.new(200) { wanted.keys.map { |key| mine[key] } == wanted.values }.uniq
        end
      end
      expect(answers.map(&:take)).to all(eq([true]))
    end

    it 'may share an empty one, and each may have its own, in a new directory too' do
      empty = Ractor.make_shareable(open)
      expect([empty['a'], empty.size, empty.to_a]).to eq([nil, 0, []])
      own = Ractor.new("#{path}-own") do |at|
        hash = Hammerspace.new(at)
        hash['a'] = '1'
        hash.to_a
      end
      expect(own.take).to eq([%w[a 1]])
    end

    it 'do not get what a default would share' do
      hash = Hammerspace.new(path) { path }
      expect { Ractor.make_shareable(hash) }.to raise_error(Ractor::IsolationError)
      hash['a'] = '1'
      expect(hash.to_a).to eq([%w[a 1]])
    end
  end

  describe 'the collector' do
    it 'may run whenever it can' do
      expect(survives?(File.expand_path('everything.rb', __dir__), path)).to be(true)
    end

    # In a child: other extensions that are loaded here (that of rbs 2.1 is one) do not survive what is moved.
    it 'may move what it likes', if: GC.respond_to?(:compact) do
      answer = in_child do
        hash = open(frozen: true)
        everything(hash)
        texts = hash.values
        walk = hash.each
        walk.next
        # Its name from Ruby 3.2 on, and the one before.
        names = GC.method(:verify_compaction_references).parameters.map(&:last)
        room = names.include?(:expand_heap) ? :expand_heap : :double_heap
        GC.verify_compaction_references(toward: :empty, room => true)
        seen = [hash['a'], hash.default, texts, walk.next, hash.backend.frontend.equal?(hash)]
        GC.auto_compact = true
        seen + [everything(hash).size]
      end
      expect(answer).to eq(['A' * 50, nil, ['A' * 50, 'B'], %w[b B], true, 2])
    end

    # A cursor holds its version, which is mapped as long as anybody does.
    it 'frees walks that were never ended' do
      mapped = -> { File.read('/proc/self/maps').scan("#{path}/").size }
      hash = open(durability: :none)
      most = Array.new(100) do |at|
        hash.replace('a' => at.to_s, 'b' => 'B')
        hash.each.next
        mapped.call
      end.max
      hash.close
      1000.times { +'something else on the stack' }
      GC.start
      expect([most > 10, mapped.call < 10]).to eq([true, true]), "#{most} mappings, then #{mapped.call}"
    end
  end
end
