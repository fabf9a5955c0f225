# frozen_string_literal: true

require 'hammerspace/backend/sparkey'
require 'hammerspace/draft'

module Hammerspace
  # A hash of strings in a directory.
  #
  # What it reads is one version, from the first read until +close+, +refresh+ or a write. Writes are pending, and nobody
  # else sees them, until +close+, +publish+ or the next read; then they become the current version as a whole. The last one
  # to publish wins.
  #
  # Options, all of which may be left out:
  #
  #   create:       whether the directory is made where it is missing; true by default
  #   encoding:     of the strings that come back, a name or an Encoding; binary by default
  #   frozen:       whether strings come back frozen, and as parts of the mapped file where they can
  #   compression:  of new versions: :none, :snappy or :zstd; by default as the version they start from
  #   block_size:   bytes per block of compressed versions
  #   durability:   :full, so that a power cut takes nothing that was published, or :none
  #   keep:         how many versions stay on disk, for +rollback+; 1 by default
  #   backend:      a subclass of Hammerspace::Backend::Base
  class Hash
    include Enumerable
    include HashMethods

    attr_reader :path, :options

    # Defaults are those of Ruby's Hash: a third argument, or a block.
    def initialize(path, options = {}, *default, &default_proc)
      raise TypeError, "options are a Hash, not #{options.inspect}" unless options.respond_to?(:to_hash)

      # The process may change its directory. `~` is a name like any other, as it is for File and for the original gem.
      @path = File.absolute_path(path)
      @options = options.to_hash
      open_backend
      check_defaults(default, default_proc)
      default_proc ? self.default_proc = default_proc : self.default = default.first
    end

    # The copy has pending writes and a version of its own.
    def initialize_copy(other)
      other.publish unless other.backend.frozen?
      open_backend
      other.default_proc ? self.default_proc = other.default_proc : self.default = other.default
    end

    # Only defaults are frozen with a hash. A hash that Ractors share (Ractor.make_shareable) is frozen altogether, at its
    # current version. All of them wait for that; so what may take long, publishing and opening, is done here.
    def freeze
      backend.uid
      super
    end

    # Changes the hash by what the block writes, in turn: transactions of all processes queue, each for up to
    # +timeout+ seconds (then BusyError), so none loses what another wrote. What the block writes is published when
    # it ends, and given up when it raises. Gives what the block gives.
    #
    # A write that does not queue may be published meanwhile. Then the block runs again, on what was published; so
    # it must be repeatable.
    #
    #   hash.transaction { |draft| draft['visits'] = draft['visits'].to_i.succ.to_s }
    #
    # The block works on a Draft. The hash itself takes no reads until it has ended.
    def transaction(timeout: 60)
      raise NotImplementedError, "#{backend.class} has no transactions" unless backend.is_a?(Backend::Sparkey)

      in_turn(timeout) { yield Draft.new(self) }
    end

    # The versions on disk, newest first.
    def versions = backend.versions

    private

    def frontend = self

    def open_backend
      klass = options.fetch(:backend, Backend::Sparkey)
      bind(klass.new(self, path, options))
      extend(Forwarding) unless backend.instance_of?(Backend::Sparkey)
    end

    def check_defaults(default, default_proc)
      allowed = default_proc ? 0 : 1
      return if default.size <= allowed

      raise ArgumentError, "wrong number of arguments (given #{default.size + 2}, expected 1..#{allowed + 2})"
    end

    # What a hash does whose backend is another one: it asks that.
    module Forwarding
      names = Enumerable.instance_methods | HashMethods.instance_methods |
              %i[close discard publish refresh rollback uid versions]
      names.each do |name|
        define_method(name) { |*arguments, &block| backend.public_send(name, *arguments, &block) }
      end
    end
    private_constant :Forwarding
  end
end
