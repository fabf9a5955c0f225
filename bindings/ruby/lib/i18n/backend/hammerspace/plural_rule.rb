# frozen_string_literal: true

module I18n
  module Backend
    class Hammerspace
      # Which form of a translation a count takes: what the header of gettext's catalogues says, for instance
      #
      #   Plural-Forms: nplurals=2; plural=n != 1;
      #
      # where +plural+ is an expression of C over the whole number +n+. There are no names, calls or assignments in it, and it
      # has an end, so that whatever a file says is read in bounded time.
      class PluralRule
        LONGEST = 1000
        TOKEN = /\s*(\d+|n|\|\||&&|[=!<>]=|[-+*\/%<>!?:()])/
        # From the loosest to the tightest.
        OPERATORS = [%w[||], %w[&&], %w[== !=], %w[< > <= >=], %w[+ -], %w[* / %]].freeze
        # Where no header says anything, as in gettext.
        GERMANIC = 'n != 1'

        # Takes a header, nil if there is none.
        def initialize(header)
          @source = header.to_s[/^Plural-Forms:.*?\bplural\s*=\s*([^;\n]*)/i, 1] || GERMANIC
          @tokens = tokens
          @rule = choice
          refuse unless @tokens.empty?
        end

        # Which of these forms +count+ things take.
        def choose(forms, count)
          forms[@rule.call(count.to_i.abs)] || forms.first
        rescue ZeroDivisionError
          forms.first
        end

        private

        def tokens
          refuse if @source.size > LONGEST || !@source.match?(/\A(?:#{TOKEN})*\s*\z/o)
          @source.scan(TOKEN).flatten
        end

        def refuse
          raise ::Hammerspace::InvalidError, "the plural rule `#{@source[0, LONGEST]}` is none: correct the catalogue's header"
        end

        def take(*wanted) = wanted.include?(@tokens.first) ? @tokens.shift : nil

        def expect(token) = take(token) || refuse

        def choice
          condition = operation(0)
          return condition unless take('?')

          yes = choice
          expect(':')
          no = choice
          ->(n) { condition.call(n).zero? ? no.call(n) : yes.call(n) }
        end

        def operation(level)
          return operand if level == OPERATORS.size

          left = operation(level + 1)
          while (operator = take(*OPERATORS[level]))
            left = join(operator, left, operation(level + 1))
          end
          left
        end

        def join(operator, left, right)
          case operator
          when '||' then ->(n) { number(!left.call(n).zero? || !right.call(n).zero?) }
          when '&&' then ->(n) { number(!left.call(n).zero? && !right.call(n).zero?) }
          when '+', '-', '*', '/', '%' then ->(n) { left.call(n).public_send(operator, right.call(n)) }
          else ->(n) { number(left.call(n).public_send(operator, right.call(n))) }
          end
        end

        def operand
          if take('!')
            inner = operand
            ->(n) { number(inner.call(n).zero?) }
          elsif take('(')
            choice.tap { expect(')') }
          elsif take('n')
            ->(n) { n }
          else
            constant = Integer(@tokens.shift, 10, exception: false) || refuse
            ->(_n) { constant }
          end
        end

        def number(truth) = truth ? 1 : 0
      end
    end
  end
end
