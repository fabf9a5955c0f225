# frozen_string_literal: true

require 'i18n/backend/hammerspace'
require 'rack'

# docs/guide/ruby.md: its Ruby is run, piece by piece, and gives what its comments say.
RSpec.describe 'The guide' do
  page = File.read(File.expand_path('../../../docs/guide/ruby.md', __dir__), encoding: 'UTF-8')
  pieces = page.scan(/^```ruby\n(.*?)^```$/m).flatten

  # Runs a piece line by line where a line says what it gives, and as a whole where none does.
  def run(piece)
    context = TOPLEVEL_BINDING.dup
    return context.eval(piece) unless piece.include?('# => ')

    piece.each_line do |line|
      code, _, expected = line.chomp.partition(/ *# => /)
      got = context.eval(code)
      # Rubies differ in how they write a Hash: what the comment says is read first.
      expect(got.inspect).to eq(context.eval(expected).inspect), "#{code} gives #{got.inspect}" unless expected.empty?
    end
  end

  it 'has pieces' do
    expect([pieces.size > 5, pieces.grep(/# => /).size > 3]).to eq([true, true])
  end

  pieces.reject { |piece| piece.include?('config.ru') }.each_with_index do |piece, number|
    it "is right in piece #{number + 1}: #{piece.lines.first.chomp}" do
      backend, enforce = I18n.backend, I18n.enforce_available_locales if defined?(I18n)
      Dir.mktmpdir { |place| Dir.chdir(place) { run(piece) } }
    ensure
      I18n.backend, I18n.enforce_available_locales = backend, enforce if backend
    end
  end

  it 'has an application that serves what is current' do
    Dir.mktmpdir do |place|
      code = pieces.grep(/config.ru/).first
      code = code.sub("'texts'", "'#{place}/texts'").sub('TEXTS =', 'texts = @texts =').gsub('TEXTS', 'texts')
      app = Rack::Builder.new { instance_eval(code) }.to_app
      ask = -> { Rack::MockRequest.new(app).get('/hello').body }
      answers = [ask.call]
      ['Hello', 'Hello again'].each do |text|
        Hammerspace.new("#{place}/texts").replace('hello' => text).close
        answers << ask.call
      end
      expect(answers).to eq(['what?', 'Hello', 'Hello again'])
    end
  end

  # `text` as the page has it, once.
  def line(page, text)
    expect(page.scan(text).size).to eq(1), "#{text} is not on the page"
    text
  end

  # Answers with what the block gives, below what `use` has put there.
  def serving(use, &answer)
    app = Rack::Builder.new do
      instance_eval(use)
      run(->(_env) { [200, {}, [answer.call.to_s]] })
    end
    -> { Rack::MockRequest.new(app.to_app).get('/').body }
  end

  it 'has lines for Rails and for translations that refresh' do
    Dir.mktmpdir do |place|
      texts = Hammerspace.new("#{place}/texts")
      rails = line(page, 'config.middleware.use Hammerspace::Refresh, TEXTS')
      i18n = line(page, 'use Hammerspace::Refresh, I18n.backend')
      translations = I18n::Backend::Hammerspace.new("#{place}/translations")
      translate = -> { translations.exists?(:de, :hello) ? translations.translate(:de, :hello) : 'nothing' }
      stub_const('TEXTS', texts)
      allow(I18n).to receive(:backend).and_return(translations)
      asks = [serving(rails.sub('config.middleware.', '')) { texts['hello'] }, serving(i18n) { translate.call }]
      answers = %w[one two].map do |text|
        Hammerspace.new("#{place}/texts").replace('hello' => text).close
        writer = I18n::Backend::Hammerspace.new("#{place}/translations")
        writer.store_translations(:de, hello: text)
        writer.publish
        asks.map(&:call)
      end
      expect(answers).to eq([%w[one one], %w[two two]])
    end
  end

  it 'would not pass if it were wrong' do
    expect { run("1 + 1 # => 3\n") }.to raise_error(RSpec::Expectations::ExpectationNotMetError)
  end
end
