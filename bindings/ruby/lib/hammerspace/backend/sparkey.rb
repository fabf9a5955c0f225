# frozen_string_literal: true

module Hammerspace
  # One version of a hash on disk.
  Version = Struct.new(:number, :uid, :current, :entries, :bytes, :published) do
    alias_method :current?, :current
  end

  module Backend
    # Sparkey files, one directory for each version. What reads and writes is native.
    class Sparkey < Base
      DURABILITY = { full: 0, none: 1 }.freeze
      COMPRESSION = { nil => 0, none: 1, snappy: 2, zstd: 3 }.freeze
      private_constant :DURABILITY, :COMPRESSION

      def initialize(frontend, path, options = {})
        configure(frontend, path, options.fetch(:create, true), encoding_in(options),
                  options[:frozen] ? true : false,
                  choice(options, :durability, DURABILITY, :full), choice(options, :compression, COMPRESSION, nil),
                  count(options, :block_size) || 0, count(options, :keep) || 1)
        super
      end

      # The versions on disk, newest first.
      def versions = version_list.map { |facts| Version.new(*facts).freeze }

      protected

      # What keeps the directory from being made the library says, as a Hammerspace::Error.
      def ensure_path_exists(path)
        super
      rescue SystemCallError
        versions
      end

      private

      def encoding_in(options)
        given = options[:encoding] || Encoding::BINARY
        # Nil for 'internal', where Ruby has none.
        Encoding.find(given) || raise(ArgumentError)
      rescue ArgumentError, TypeError
        raise InvalidError, "encoding: #{given.inspect} stands for none; Encoding.name_list has their names"
      end

      def choice(options, name, choices, default)
        given = options.fetch(name, default)
        given = given.to_sym if given.is_a?(String)
        choices.fetch(given) do
          raise InvalidError, "#{name}: #{given.inspect} is none of #{choices.keys.compact.map(&:inspect).join(', ')}"
        end
      end

      def count(options, name)
        given = options[name]
        return given if given.nil? || (given.is_a?(Integer) && given.between?(1, 2**31 - 1))

        raise InvalidError, "#{name}: #{given.inspect} is no number from 1 on"
      end
    end
  end
end
