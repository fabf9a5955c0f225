# frozen_string_literal: true

require 'hammerspace'
require 'i18n'
require 'json'

module I18n
  module Backend
    # Translations of all locales in one hash on disk, shared by every process.
    #
    #   I18n.backend = I18n::Backend::Hammerspace.new('/srv/app/translations')
    #
    # A translation lies under its locale and keys, joined by dots: +de.shop.title+. Text is stored as it is, anything else as a
    # NUL and JSON; a subtree has an entry of its own, which names its children (docs/format/translations.md). `hammerspace load
    # --i18n` writes the same. Procs cannot leave the heap: they stay in the process that stored them.
    class Hammerspace
      # What cannot be written as a JSON value of the same type.
      module Typed
        MARK = "\0"
        # The command takes collections within 128 others; a mapping in a list is three in JSON.
        NESTING_MAX = 400

        def self.encode(value)
          value = value.encode(Encoding::UTF_8) if value.is_a?(::String) && value.encoding != Encoding::BINARY
          return value if value.is_a?(::String) && !value.include?(MARK)

          MARK + JSON.generate(wrap(value), max_nesting: NESTING_MAX)
        rescue JSON::JSONError, EncodingError => e
          raise ::Hammerspace::InvalidError, "#{value.inspect} is no translation that can be stored: #{e.message}"
        end

        def self.decode(text)
          return text unless text.include?(MARK)

          text.start_with?(MARK) ? unwrap(JSON.parse(text[1..], max_nesting: NESTING_MAX)) : Forms.new(text.split(MARK, -1))
        rescue JSON::JSONError => e
          raise ::Hammerspace::CorruptError, "a translation is no JSON behind its NUL (#{e.message}): store it again"
        end

        def self.wrap(value)
          case value
          when ::Symbol then { symbol: value }
          when ::Hash then { pairs: value.map { |key, inner| [key.is_a?(::Integer) ? key : key.to_s, wrap(inner)] } }
          when Children then { children: value.names }
          when ::Array then value.map { |inner| wrap(inner) }
          when nil, true, false, ::String, ::Integer, ::Float then value
          else raise ::Hammerspace::InvalidError, "a #{value.class} is no translation that can be stored: #{value.inspect}"
          end
        end

        # A name as I18n has it.
        def self.name(key) = key.is_a?(::Integer) ? key : key.to_sym

        # What a file says that JSON cannot, as the text that it has there: dates, and numbers that are none.
        def self.textual(value)
          case value
          when ::Hash then value.transform_values { |inner| textual(inner) }
          when ::Array then value.map { |inner| textual(inner) }
          when ::Float then value.finite? ? value : { 'NaN' => '.nan', 'Infinity' => '.inf' }.fetch(value.to_s, '-.inf')
          when nil, true, false, ::String, ::Symbol, ::Integer, ::Proc then value
          else value.to_s
          end
        end

        def self.unwrap(value)
          case value
          when ::Array then value.map { |inner| unwrap(inner) }
          when ::Hash
            kind, inner = value.first
            case kind
            when 'symbol' then inner.to_sym
            when 'pairs' then inner.to_h { |key, one| [name(key), unwrap(one)] }
            when 'children' then Children.new(inner)
            else raise ::Hammerspace::UnsupportedError, "a translation of the kind #{kind.inspect}: update hammerspace"
            end
          else value
          end
        end
      end

      # What the entry of a subtree says: its names, those that are integers as such.
      Children = Struct.new(:names)

      # What a catalogue has for different counts.
      Forms = Struct.new(:texts)

      # Which locales there are, and the version that says so.
      Locales = Struct.new(:version, :names)

      private_constant :Typed, :Children, :Forms, :Locales

      # What a class that takes these up can have Fallbacks, Pluralization and the like included over.
      module Implementation
        include Base

        # The names that translations may have which depend on a count.
        PLURALS = %w[zero one two few many other].freeze
        # The parts that a key may have of which one is a link.
        PARTS_MAX = 64
        # The parts of a key that I18n takes for integers.
        INTEGER = /\A[-+]?([1-9]\d*|0)\z/
        # The key that lists the locales, so that nobody has to look at all keys for them.
        LOCALES = '.'

        # The Hammerspace::Hash.
        attr_reader :hash

        # Takes the path of a hash, and its options.
        def initialize(path, options = {})
          @hash = ::Hammerspace.new(path, { encoding: Encoding::UTF_8, frozen: true }.merge(options))
          @procs = {}
        end

        # Adds translations, all of them or, where one cannot be stored, none. Others see them once they are published: by
        # +publish+, or the next lookup here, of any thread, which waits until all of them are there.
        def store_translations(locale, data, options = EMPTY_HASH)
          raise ::Hammerspace::InvalidError, "#{data.inspect} is below #{locale}: there go only hashes" unless data.is_a?(::Hash)

          tree = encoded(data, options.fetch(:escape, true))
          hash.in_one_step do
            store_in(locale.to_s, tree)
            list(locale.to_s)
          end
          data
        end

        def publish = hash.publish

        # Moves on to what is current. Hammerspace::Refresh takes a backend like a hash.
        def refresh
          changed = hash.refresh
          forget_available_locales
          changed
        end

        def reload!
          refresh
          super
        end

        def available_locales
          known, version = @locales, hash.uid
          # One object, so that a thread that comes in between sees all of it or nothing.
          unless known && version && known.version == version
            @locales = known = Locales.new(version, locales_in(hash).map(&:to_sym).freeze).freeze
          end
          known.names.dup
        end

        # A Hash of all of them, for what walks over translations: I18n's Chain, and tools that export them. Those that the
        # command loaded without trees are not among them.
        def translations(**) = available_locales.to_h { |locale| [locale, at(locale.to_s) || {}] }

        # All are there, always.
        def initialized? = true

        protected

        def lookup(locale, key, scope = [], options = EMPTY_HASH)
          names = [scope, key].flatten.compact.map(&:to_s)
          separator = options[:separator] || I18n.default_separator
          names.map! { |name| name.split(separator, -1).map { |part| flat(part, true) }.join('.') } if separator != '.'
          key = [locale, *names].join('.')
          found = at(key)
          found = at_normal(locale, key, options) if found.nil?
          found = form(locale, found, options[:count]) if found.is_a?(Forms)
          # A link is to an absolute key, whatever the scope that it was found in.
          found.is_a?(::Symbol) ? resolve_entry(locale, key, found, Utils.except(options, :count, :scope)) : found
        end

        # A file's dates and the like are text, as `hammerspace load` has them.
        def load_yml(filename)
          data, *more = super
          [Typed.textual(data), *more]
        end
        alias load_yaml load_yml

        private

        # Not as it is given, since a catalogue's msgid may have dots anywhere, but as I18n.normalize_keys has it: empty parts
        # mean nothing, and a dot alone is all there is.
        def at_normal(locale, key, options)
          exact = key
          parts = key.delete_prefix("#{locale}.").split('.').reject(&:empty?)
          key = [locale, *parts.map { |part| part.match?(INTEGER) ? part.to_i : part }].join('.')
          found = at(key) if key != exact
          found = at_link(locale, key) if found.nil?
          return found if !found.nil? || !options[:count]

          plurals(exact) || (plurals(key) if key != exact)
        end

        # I18n keeps the locales that we named, to see at once which are allowed; those of another version it is to ask for
        # again. Not those that it was told by I18n.available_locales=.
        def forget_available_locales
          known = @locales
          return if known.nil? || known.version == hash.uid || I18n.config.available_locales_initialized?

          I18n.config.clear_available_locales_set
        end

        # Spaces that others than we and `hammerspace load --i18n` have written list none.
        def locales_in(hash)
          text = hash[LOCALES]
          listed = text && Typed.decode(text)
          return listed.names if listed.is_a?(Children)

          hash.each_key.with_object({}) { |key, names| names[locale_of(key)] = true }.keys.compact
        end

        def locale_of(key) = key[/\A[^.]+/]

        def at(key)
          return @procs[key] if @procs.key?(key)

          text = hash[key]
          return if text.nil?

          value = Typed.decode(text)
          value.is_a?(Children) ? whole(key) : value
        end

        # A tree is read key by key: from a copy, which nobody else refreshes, where another thread refreshed meanwhile.
        def whole(key)
          version = hash.uid
          found = read(key, hash)
          return found if hash.uid == version

          copy = hash.dup
          read(key, copy)
        ensure
          copy&.close
        end

        def read(key, from)
          return @procs[key] if @procs.key?(key)

          text = from[key]
          value = text && Typed.decode(text)
          value.is_a?(Children) ? subtree(key, value.names, from) : value
        end

        # By the rule in the catalogue's header. The first form is that of one thing, and stands for one that there is not.
        def form(locale, forms, count)
          at = count.nil? ? 0 : ::Hammerspace.plural_form(hash["#{locale}."] || '', count.to_i.abs)
          forms.texts[at || 0] || forms.texts.first
        end

        # Forms for counts that the command loaded are named nowhere, and belong to it as well.
        def subtree(key, names, from)
          (names | PLURALS).each_with_object({}) do |name, tree|
            value = read("#{key}.#{name}", from)
            tree[Typed.name(unescaped(name))] = value unless value.nil?
          end
        end

        def unescaped(name)
          name.is_a?(::Integer) ? name : name.tr(Flatten::SEPARATOR_ESCAPE_CHAR, Flatten::FLATTEN_SEPARATOR)
        end

        # Where a part of the key's path is a link to another key. One that leads below itself makes the key longer each time.
        def at_link(locale, key)
          parts = key.split(Flatten::FLATTEN_SEPARATOR)
          return if parts.size > PARTS_MAX

          (parts.size - 1).downto(2) do |count|
            text = hash[parts.first(count).join('.')]
            link = text && Typed.decode(text)
            next unless link.is_a?(::Symbol)

            return lookup(locale, [link, *parts.drop(count)].join('.'))
          end
          nil
        end

        # Data that the command loaded has no subtrees.
        def plurals(key)
          found = PLURALS.to_h { |name| [name.to_sym, at("#{key}.#{name}")] }.compact
          found.empty? ? nil : found
        end

        # A tree with names and values as they are stored; an error where they cannot be, before any of them is.
        def encoded(value, escape)
          case value
          when nil, ::Proc then value
          when ::Hash
            tree = value.to_h { |name, inner| [flat(name, escape), encoded(inner, escape)] }
            Typed.encode(Children.new(tree.keys))
            tree
          else Typed.encode(value)
          end
        end

        def flat(name, escape)
          return name if name.is_a?(::Integer)

          escape ? Flatten.escape_default_separator(name) : name.to_s
        end

        def store_in(path, tree)
          gone, there = tree.partition { |_name, value| value.nil? }.map(&:to_h)
          there.each { |name, value| store_at("#{path}.#{name}", value) }
          gone.each_key { |name| remove("#{path}.#{name}") }
          old = Array(children(path))
          all = (old + there.keys).to_h { |name| [name.to_s, name] }.except(*gone.keys.map(&:to_s)).values
          # What never was a tree does not become one because something was to be removed from it.
          hash[path] = Typed.encode(Children.new(all)) unless all == old
        end

        # One that has something stored is one.
        def list(locale)
          return if children(locale).nil?

          # Not by our hash, where reading would publish what is pending.
          before = children(LOCALES)
          names = (before || locales_in(::Hammerspace.new(hash.path, hash.options))) | [locale_of(locale)]
          hash[LOCALES] = Typed.encode(Children.new(names)) unless names == before
        end

        def store_at(key, value)
          value.is_a?(::Hash) ? @procs.delete(key) : remove(key)
          case value
          when ::Hash then store_tree(key, value)
          when ::Proc then @procs[key] = value
          else hash[key] = value
          end
        end

        # Unlike a locale, a tree may be empty.
        def store_tree(key, tree)
          hash[key] = Typed.encode(Children.new([])) if tree.empty? && children(key).nil?
          store_in(key, tree)
        end

        # The names below a tree, and nothing of what is none.
        def children(key)
          text = hash.peek(key)
          value = text && Typed.decode(text)
          value.names if value.is_a?(Children)
        end

        def remove(key)
          @procs.delete(key)
          children(key)&.each { |name| remove("#{key}.#{name}") }
          hash.delete(key)
        end
      end

      include Implementation
    end
  end
end
