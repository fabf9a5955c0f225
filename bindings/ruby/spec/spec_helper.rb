# frozen_string_literal: true

require 'hammerspace'
require 'timeout'
require 'tmpdir'

# A directory that no hash has been in yet, and what is done with it again and again.
module Scratch
  attr_reader :path

  def open(**options) = Hammerspace.new(path, options)

  # Publishes these pairs, and nothing else.
  def publish(pairs)
    hash = open
    hash.replace(pairs)
    hash.close
  end

  def directories = Dir.children(path).map { |name| File.join(path, name) }.select { |at| File.lstat(at).directory? }

  # Runs a block in a child, and gives what it gave, or raises what it raised.
  def in_child
    reader, writer = IO.pipe
    child = fork do
      reader.close
      answer = begin
        [true, yield]
      rescue Exception => error # rubocop:disable Lint/RescueException
        [false, "#{error.class}: #{error.message}"]
      end
      writer.write(Marshal.dump(answer))
      writer.close
    end
    writer.close
    fine, answer = Marshal.load(reader.read)
    Process.wait(child)
    raise answer unless fine

    answer
  end
end

RSpec.configure do |config|
  config.include Scratch
  config.expect_with(:rspec) { |expectations| expectations.syntax = :expect }
  config.disable_monkey_patching!
  config.order = :random
  Kernel.srand(config.seed)
  config.around do |example|
    Dir.mktmpdir do |directory|
      @path = File.join(directory, 'space')
      Timeout.timeout(120) { example.run }
    end
  end
end
