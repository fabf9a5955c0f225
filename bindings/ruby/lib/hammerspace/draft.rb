# frozen_string_literal: true

module Hammerspace
  # The version that a transaction makes, in the block of Hash#transaction.
  class Draft
    def initialize(hash)
      @hash = hash
    end

    # The value of a key as it would be if the draft were published now; nil where there is none.
    def [](key) = @hash.peek(key)

    def []=(key, value)
      @hash[key] = value
    end

    def store(key, value)
      self[key] = value
    end

    # Removes a key, and gives its value.
    def delete(key) = @hash.delete(key)

    def key?(key) = !self[key].nil?

    # The value of a key; or what the block gives, or the default given here, or a KeyError.
    def fetch(key, *default)
      raise ArgumentError, "wrong number of arguments (given #{default.size + 1}, expected 1..2)" if default.size > 1

      value = self[key]
      return value unless value.nil?
      return yield key if block_given?

      default.empty? ? raise(KeyError.new("key not found: #{key.inspect}", receiver: self, key: key)) : default.first
    end

    # Takes the pairs of +other+ over. The block decides between two values of one key.
    def update(other)
      other.each do |key, value|
        old = self[key] if block_given?
        self[key] = old.nil? ? value : yield(key, old, value)
      end
      self
    end
    alias merge! update
  end
end
