# frozen_string_literal: true

module Hammerspace
  # The idiom of Ruby's Hash, on top of what a backend has to have: +[]+, +[]=+, +delete+, +each+, +close+ and +uid+. A
  # backend may have anything of this better, and the native one does.
  #
  # Where Ruby's Hash returns itself these return +frontend+, the Hammerspace::Hash.
  module HashMethods
    def [](_key) = missing(:[])
    def []=(_key, _value)
      missing(:[]=)
    end
    def delete(_key) = missing(:delete)
    def each = missing(:each)

    # Whether +other+ is a hash of the same keys and values. Defaults do not count.
    def ==(other)
      return true if equal?(other)
      return false unless other.respond_to?(:to_hash)

      theirs = other.is_a?(HashMethods) ? other : other.to_hash
      size == theirs.size && all? { |key, value| theirs.key?(key) && theirs[key] == value }
    end

    def eql?(other) = self == other

    # The pair of a key.
    def assoc(key)
      value = fetch(key) { return nil }
      [encoded_as(value, key), value]
    end

    def clear
      each_key { |key| delete(key) }
      frontend
    end

    def delete_if(&block)
      return to_enum(:delete_if) unless block

      reject!(&block)
      frontend
    end

    def each_key
      return to_enum(:each_key) { size } unless block_given?

      each { |key, _value| yield key }
      frontend
    end

    def each_pair(&block) = each(&block)

    def each_value
      return to_enum(:each_value) { size } unless block_given?

      each { |_key, value| yield value }
      frontend
    end

    def empty? = size.zero?

    # The value of a key; or what the block gives, or the default given here, or a KeyError.
    def fetch(key, *default)
      raise ArgumentError, "wrong number of arguments (given #{default.size + 1}, expected 1..2)" if default.size > 1
      return self[key] if has_key?(key)
      return yield key if block_given?

      default.empty? ? key_not_found(key) : default.first
    end

    # All keys and values in one array. The level is taken and ignored, as ever.
    def flatten(_level = 1) = to_a.flatten(1)

    def has_key?(key) = each_key.any? { |other| other.b == key.b }

    def has_value?(value) = each_value.any? { |other| other == value }

    # What the block writes is one step for other threads: natively none of them reads or publishes until it has ended. In it
    # one sets, deletes and peeks; what else would take a turn is a ThreadError.
    def in_one_step
      yield
      frontend
    end

    def include?(key) = has_key?(key)

    def keep_if(&block)
      return to_enum(:keep_if) unless block

      select!(&block)
      frontend
    end

    # The *value* of a key, or nil. (Ruby's Hash gives the key of a value here.)
    def key(key) = fetch(key, nil)

    def key?(key) = has_key?(key)

    def keys = each_key.to_a

    def length = size

    def member?(key) = has_key?(key)

    # Takes the pairs of +other+ over: anything whose +each+ gives pairs. The block decides between two values of one key.
    def merge!(other)
      other.each do |key, value|
        old = peek(key) if block_given?
        self[key] = old.nil? ? value : yield(key, old, value)
      end
      frontend
    end

    # What a key has, or would have if what is pending were published.
    def peek(key) = has_key?(key) ? self[key] : nil

    # The first pair with this value.
    def rassoc(value) = find { |_key, other| other == value }

    def reject!
      return to_enum(:reject!) unless block_given?

      delete_where { |key, value| yield key, value }
    end

    def replace(other)
      pairs = other.to_a
      clear
      merge!(pairs)
    end

    def select!
      return to_enum(:select!) unless block_given?

      delete_where { |key, value| !yield(key, value) }
    end

    # Removes the first pair and returns it; the default where there is none.
    def shift
      first = each { |key, value| break [key, value] }
      return frontend.default(nil) unless first.is_a?(::Array)

      delete(first.first)
      first
    end

    def size = each_key.inject(0) { |count, _key| count + 1 }

    def store(key, value)
      self[key] = value
    end

    # A Ruby Hash with all of it.
    def to_hash = each_with_object({}) { |(key, value), hash| hash[key] = value }

    def update(other, &block) = merge!(other, &block)

    def value?(value) = has_value?(value)

    def values = each_value.to_a

    # The values of keys, or what +[]+ gives instead.
    def values_at(*keys) = keys.map { |key| self[key] }

    private

    # The frontend, or nil where nothing was deleted.
    def delete_where
      deleted = false
      each do |key, value|
        next unless yield key, value

        delete(key)
        deleted = true
      end
      deleted ? frontend : nil
    end

    def key_not_found(key)
      raise KeyError.new("key not found: #{key.inspect}", receiver: frontend, key: key)
    end

    def encoded_as(value, key) = key.dup.force_encoding(value.encoding)

    def missing(method)
      raise NotImplementedError, "#{self.class} has no #{method}"
    end
  end
end
