# frozen_string_literal: true

RSpec.describe 'Hammerspace::Hash#transaction' do
  let(:hash) { Hammerspace.new(path, durability: :none) }
  let(:other) { Hammerspace.new(path, durability: :none) }

  def count(hash)
    hash.transaction { |draft| draft['count'] = draft.fetch('count', '0').to_i.succ.to_s }
  end

  it 'loses nothing that another process wrote' do
    children = Array.new(4) do
      fork do
        10.times { count(hash) }
        exit!(0)
      end
    end
    expect(children.map { |child| Process.wait2(child).last.success? }).to all(be true)
    expect(hash['count']).to eq('40')
  end

  it 'loses nothing that another thread wrote, by one hash or by several' do
    threads = Array.new(4) { |at| Thread.new { 10.times { count(at.even? ? hash : other) } } }
    threads.each(&:join)
    hash.refresh
    expect(hash['count']).to eq('40')
  end

  it 'runs the block again on what was published meanwhile, and gives what it gave last' do
    runs = 0
    given = hash.transaction do |draft|
      other.replace('shape' => 'round').publish if (runs += 1) == 1
      draft['color'] = 'red'
      runs
    end
    expect([given, hash.to_hash]).to eq([2, { 'shape' => 'round', 'color' => 'red' }])
  end

  it 'publishes nothing where the block raises or writes nothing' do
    hash['color'] = 'red'
    hash.publish
    expect { hash.transaction { |draft| draft['color'] = raise(IndexError) } }.to raise_error(IndexError)
    expect { hash.transaction { |draft| draft.delete('color') && raise(IndexError) } }.to raise_error(IndexError)
    expect(hash.transaction { |draft| draft['color'] }).to eq('red')
    expect(hash.versions.map(&:number)).to eq([1])
    expect(hash['color']).to eq('red')
  end

  it 'waits no longer than its timeout, and is interrupted' do
    hash.transaction do
      expect { other.transaction(timeout: 0) { raise } }.to raise_error(Hammerspace::BusyError, /this process itself/)
      expect { other.transaction(timeout: 0.25) { raise } }.to raise_error(Hammerspace::BusyError)
      waiting = Thread.new { other.transaction(timeout: Float::INFINITY) { raise } }
      sleep 0.01 until waiting.status == 'sleep'
      waiting.kill
      expect(waiting.join(10)).to be(waiting)
    end
  end

  it 'refuses what is pending, and reads of the hash in the block' do
    hash['color'] = 'red'
    expect { hash.transaction { nil } }.to raise_error(Hammerspace::InvalidError, /pending/)
    hash.publish
    expect { hash.transaction { hash['color'] } }.to raise_error(ThreadError)
    expect(hash['color']).to eq('red')
  end

  it 'has a draft that reads what it would publish' do
    hash.merge!('a' => '1', 'b' => '2').publish
    hash.transaction do |draft|
      expect([draft.delete('a'), draft['a'], draft.key?('a'), draft.key?('b')]).to eq(['1', nil, false, true])
      draft.update({ 'b' => '3', 'c' => '4' }) { |_key, old, new| old + new }
      expect { draft.fetch('a') }.to raise_error(KeyError)
      expect([draft.fetch('a', '0'), draft.fetch('a') { |key| key }, draft.store('d', '5')]).to eq(%w[0 a 5])
    end
    expect(hash.to_hash).to eq('b' => '23', 'c' => '4', 'd' => '5')
  end
end
