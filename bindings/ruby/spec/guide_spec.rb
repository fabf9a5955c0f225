# frozen_string_literal: true

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
      layers = []
      builder = Object.new
      builder.define_singleton_method(:use) { |layer, *arguments| layers << [layer, arguments] }
      builder.define_singleton_method(:run) do |app|
        layers.reverse.inject(app) { |inner, (layer, arguments)| layer.new(inner, *arguments) }
      end
      code = pieces.grep(/config.ru/).first
      code = code.sub("'texts'", "'#{place}/texts'").sub('TEXTS =', 'texts = @texts =').gsub('TEXTS', 'texts')
      app = builder.instance_eval(code)
      ask = -> { app.call('PATH_INFO' => '/hello').last.first }
      answers = [ask.call]
      ['Hello', 'Hello again'].each do |text|
        Hammerspace.new("#{place}/texts").replace('hello' => text).close
        answers << ask.call
      end
      expect(answers).to eq(['what?', 'Hello', 'Hello again'])
      expect(answers.last.encoding).to eq(Encoding::UTF_8)
    end
  end

  it 'would not pass if it were wrong' do
    expect { run("1 + 1 # => 3\n") }.to raise_error(RSpec::Expectations::ExpectationNotMetError)
  end
end
