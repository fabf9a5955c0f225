# frozen_string_literal: true

require 'date'
require 'i18n/backend/hammerspace'
require 'open3'
require 'tomlrb'
require 'yaml'

RSpec.describe I18n::Backend::Hammerspace do
  around do |example|
    before = [I18n.backend, I18n.locale, I18n.enforce_available_locales]
    I18n.enforce_available_locales = false
    I18n.backend = described_class.new(path, durability: :none)
    example.run
    I18n.backend, I18n.locale, I18n.enforce_available_locales = before
  end

  def store(locale, **data) = I18n.backend.store_translations(locale, data)

  it 'passes all tests that ship with I18n' do
    program = File.expand_path('i18n/shared_tests.rb', __dir__)
    said, status = Open3.capture2e(RbConfig.ruby, *$LOAD_PATH.map { |at| "-I#{at}" }, program)
    expect(said).to match(/^1[3-9]\d runs, .* 0 failures, 0 errors, 0 skips$/), said
    expect(status).to be_success
  end

  it 'serves other processes what one has stored, with its types' do
    typed = { text: 'ü', number: 3, float: 1.5, yes: true, no: false, list: ['a', nil, :b, { c: ['d'] }], nul: "\0x",
              two: "a\0b" }
    store(:de, typed: typed, link: :'typed.text', tree: :typed)
    I18n.backend.publish
    said = in_child do
      I18n.backend = described_class.new(path)
      [I18n.t(:typed, locale: :de), I18n.t(:link, locale: :de), I18n.t('tree.number', locale: :de), I18n.available_locales]
    end
    expect(said).to eq([typed, 'ü', 3, [:de]])
    expect(I18n.t(:'typed.text', locale: :de).encoding).to eq(Encoding::UTF_8)
  end

  it 'pluralizes, interpolates, and falls back' do
    store(:de, apples: { one: 'ein Apfel', other: '%{count} Äpfel' }, hello: 'Hallo %{name}')
    I18n.backend.publish
    backend = Class.new(described_class) { include I18n::Backend::Fallbacks }
    I18n.backend = backend.new(path)
    I18n.fallbacks = I18n::Locale::Fallbacks.new(:de)
    expect([I18n.t(:apples, count: 1, locale: :'de-AT'), I18n.t(:apples, count: 5, locale: :'de-AT'),
            I18n.t(:hello, name: 'Welt', locale: :de)])
      .to eq(['ein Apfel', '5 Äpfel', 'Hallo Welt'])
  end

  it 'stores in one step, which a thread that reads waits for' do
    seen, reading = [], nil
    read = -> { Thread.new { I18n.t(:e, locale: :en) && seen << open.to_h.keys } }
    I18n.backend.hash.define_singleton_method(:[]=) do |key, value|
      super(key, value)
      reading ||= read.call
      sleep 0.01
    end
    store(:en, a: { c: '2', d: '2' }, e: '2')
    reading.join
    expect(seen).to eq([%w[en.a.c en.a.d en.a en.e en .]])
  end

  it 'finds what there is before a last dot, and by a dot alone all' do
    store(:en, a: { b: 'x' })
    expect([I18n.t('.'), I18n.t('.', scope: :a), I18n.t('a.'), I18n.t('a.b.'), I18n.exists?('b.')])
      .to eq([{ a: { b: 'x' } }, { b: 'x' }, { b: 'x' }, 'x', false])
  end

  # Beside I18n's own backend, which has the same data.
  describe 'beside Simple' do
    let(:simple) { I18n::Backend::Simple.new }

    def both(data)
      [I18n.backend, simple].each { |backend| backend.store_translations(:en, data) }
    end

    def same(*arguments, **options)
      ours, theirs = [I18n.backend, simple].map { |backend| backend.translate(:en, *arguments, default: '-', **options) }
      expect(ours).to eq(theirs), "#{arguments} #{options}: #{ours.inspect} for #{theirs.inspect}"
      ours
    end

    it 'lets empty parts of keys vanish' do
      both(a: { b: { c: 'x' } }, link: :'a.b')
      %w[a..b.c ..a.b..c. .a.b a...b... link..c .link.c. a..none].each { |key| same(key) }
      [%w[a . b], ['', 'a', nil, 'b', ''], [:'a.', :'.b']].each { |scope| expect(same(:c, scope: scope)).to eq('x') }
    end

    it 'takes separators of any length' do
      both(a: { 'b.c': { d: 'x' }, 'e:f': 'y' })
      [['a::b.c::d', '::'], ['a|b.c|d', '|'], ['::a::::b.c::d::', '::'], ['a->b.c->d', '->'], ['a::e:f', '::']].each do |key, separator|
        expect(same(key, separator: separator)).to eq(key.include?('e:f') ? 'y' : 'x')
      end
      same('a.e:f', separator: '::')
    end

    it 'gives trees with integer keys back with them' do
      both(t: { 1 => 'a', -2 => 'b', 0 => { 3 => 'c' }, x: [{ 4 => 'd', e: 'f' }] })
      expect(same(:t)).to eq(1 => 'a', -2 => 'b', 0 => { 3 => 'c' }, x: [{ 4 => 'd', e: 'f' }])
      ['t.1', 't.-2', 't.0.3', 't.+1', 't.0', 't.01'].each { |key| same(key) }
      same(1, scope: :t)
      both(t: { 1 => nil, 5 => 'g' })
      expect(I18n.t(:t).keys).to eq([-2, 0, :x, 5])
    end

    it 'takes a file whatever odd value it has' do
      File.write("#{path}.yml", "en: {date: 2026-11-25, list: [.inf, -.inf, .nan, {d: 2001-02-03}], 1: one, text: x}")
      [I18n.backend, simple].each { |backend| backend.load_translations("#{path}.yml") }
      expect([same(:text), same('1'), I18n.t(:date), I18n.t(:list)])
        .to eq(['x', 'one', '2026-11-25', ['.inf', '-.inf', '.nan', { d: '2001-02-03' }]])
    end
  end

  it 'reads a tree from one version, though another thread refreshes' do
    store(:en, big: { a: '1', b: { c: '1' }, gone: '1' })
    I18n.backend.publish
    reader = described_class.new(path)
    reader.translate(:en, :big)
    store(:en, big: { a: '2', b: { c: '2' }, gone: nil })
    I18n.backend.publish
    # As another thread does, and once it has read one of them.
    reader.hash.define_singleton_method(:[]) { |key| super(key).tap { refresh if key == 'en.big.a' } }
    expect(reader.translate(:en, :big)).to eq(a: '2', b: { c: '2' })
  end

  it 'keeps what threads store side by side' do
    I18n.backend.hash.define_singleton_method(:peek) { |key| super(key).tap { sleep 0.001 } }
    3.times.map { |at| Thread.new { 3.times { |n| store(:en, tree: { "#{at} #{n}" => 'x' }) } } }.each(&:join)
    expect(I18n.t(:tree, locale: :en).size).to eq(9)
  end

  it 'finds nothing by a link that leads below itself' do
    store(:en, a: :'a.b')
    expect([I18n.exists?(:a), I18n.exists?(:'a.b')]).to eq([false, false])
  end

  it 'pluralizes by the rules of a language' do
    backend = Class.new(described_class) { include I18n::Backend::Pluralization }
    I18n.backend = backend.new(path)
    store(:xx, i18n: { plural: { rule: ->(count) { count > 3 ? :many : :few } } }, apples: { few: 'few', many: 'many' })
    expect([2, 9].map { |count| I18n.t(:apples, count: count, locale: :xx) }).to eq(%w[few many])
  end

  it 'replaces text by trees, trees by text, and removes what is nil' do
    store(:en, a: 'text')
    store(:en, a: {})
    expect(I18n.t(:a)).to eq({})
    store(:en, a: { b: 'b', c: { d: 'd' } })
    store(:en, a: { c: 'text' })
    expect(I18n.t(:a)).to eq(b: 'b', c: 'text')
    store(:en, a: { c: { e: 'e' }, b: nil })
    expect([I18n.t(:a), I18n.exists?(:'a.b'), I18n.exists?(:'a.c.d')]).to eq([{ c: { e: 'e' } }, false, false])
    store(:en, a: 'text')
    expect([I18n.t(:a), I18n.exists?(:'a.c.e')]).to eq(['text', false])
  end

  it 'refuses what is no translation' do
    expect { store(:en, a: Object.new) }.to raise_error(Hammerspace::InvalidError)
  end

  it 'stores all that is given, or nothing of it' do
    store(:en, a: 'old', tree: { b: 'old' }, rule: ->(*) { 'old' })
    before = I18n.backend.hash.to_h
    [Object.new, { c: { d: [Object.new] } }, { "\xff".b => 'no UTF-8' }].each do |wrong|
      data = { a: { c: 'new' }, tree: nil, rule: ->(*) { 'new' }, new: 'new', wrong: wrong }
      expect { store(:en, **data) }.to raise_error(Hammerspace::InvalidError)
      expect([I18n.backend.hash.to_h, I18n.t(:rule)]).to eq([before, 'old'])
    end
  end

  it 'gives all translations to what walks over them' do
    store(:de, shop: { 'e.g.' => 'z. B.', apples: { one: 'ein Apfel', other: '%{count} Äpfel' } })
    store(:fr, order: %i[day month])
    simple = I18n::Backend::Simple.new
    simple.store_translations(:de, shop: { title: 'Laden' })
    expect(I18n::Backend::Chain.new(simple, I18n.backend).send(:translations))
      .to eq(de: { shop: { title: 'Laden', 'e.g.': 'z. B.', apples: { one: 'ein Apfel', other: '%{count} Äpfel' } } },
             fr: { order: %i[day month] })
    expect(I18n.backend.translations(do_init: true).keys).to eq(%i[de fr])
  end

  it 'loads the files that I18n loads' do
    file = "#{path}.yml"
    File.write(file, "de:\n  date:\n    order:\n    - :day\n    - :month\n  shop:\n    title: Laden\n")
    I18n.backend.load_translations(file)
    expect([I18n.t(:'shop.title', locale: :de), I18n.t(:'date.order', locale: :de)]).to eq(['Laden', %i[day month]])
  end

  it 'refreshes as a hash does' do
    store(:de, a: '1')
    reader = described_class.new(path)
    expect(reader.translate(:de, :a)).to eq('1') if I18n.backend.publish
    store(:de, a: '2')
    I18n.backend.publish
    expect([reader.translate(:de, :a), reader.refresh, reader.translate(:de, :a)]).to eq(['1', true, '2'])
  end

  it 'looks for locales among all keys only where none are listed' do
    I18n.backend.hash['fr.by.hand'] = 'x'
    I18n.backend.publish
    expect(I18n.available_locales).to eq([:fr])
    store(:de, a: '1')
    store(:'pt-BR', a: nil)
    store(:it)
    I18n.backend.publish
    reader = described_class.new(path)
    reader.hash.define_singleton_method(:each_key) { raise 'all keys are looked at' }
    expect(reader.available_locales).to eq(%i[fr de])
    store(:it, a: '1')
    I18n.backend.publish
    expect(reader.refresh && reader.available_locales).to eq(%i[fr de it])
  end

  it 'says which locales there are while another thread is looking' do
    store(:de, a: '1')
    store(:fr, a: '1')
    I18n.backend.hash.delete('.')
    I18n.backend.publish
    reader = described_class.new(path)
    expect(reader.translate(:de, :a)).to eq('1')
    begun, go_on = Queue.new, Queue.new
    first = true
    reader.hash.define_singleton_method(:each_key) do |*arguments, &block|
      waits, first = first, false
      begun << true && go_on.pop if waits
      super(*arguments, &block)
    end
    slow = Thread.new { reader.available_locales }
    begun.pop
    expect(reader.available_locales).to contain_exactly(:de, :fr)
    go_on << true
    expect(slow.value).to contain_exactly(:de, :fr)
    expect { reader.available_locales << :xx }.not_to(change { reader.available_locales })
  end

  describe 'where only available locales are allowed' do
    around do |example|
      I18n.enforce_available_locales = true
      I18n.config.clear_available_locales_set
      example.run
    ensure
      I18n.enforce_available_locales = false
      I18n.available_locales = nil
    end

    # As a request has it, behind the middleware.
    let(:request) { ->(key, locale) { Hammerspace::Refresh.new(->(_env) { I18n.t(key, locale: locale) }, I18n.backend).call({}) } }
    let(:elsewhere) { described_class.new(path, durability: :none) }

    def publish_elsewhere(locale, **data)
      elsewhere.store_translations(locale, data)
      elsewhere.publish
    end

    it 'knows a locale from the first refresh on' do
      expect { request.call(:a, :de) }.to raise_error(I18n::InvalidLocale)
      publish_elsewhere(:de, a: '1')
      expect(request.call(:a, :de)).to eq('1')
      expect { request.call(:a, :fr) }.to raise_error(I18n::InvalidLocale)
      publish_elsewhere(:fr, a: '2')
      expect([request.call(:a, :fr), request.call(:a, :de)]).to eq(%w[2 1])
      elsewhere.hash.clear
      expect { request.call(:a, :de) }.to raise_error(I18n::InvalidLocale)
    end

    it 'knows it also if it was read before it was refreshed' do
      expect(I18n.locale_available?(:de)).to be(false)
      publish_elsewhere(:de, a: '1')
      expect(I18n.backend.translate(:de, :a)).to eq('1')
      expect(request.call(:a, :de)).to eq('1')
    end

    it 'lets I18n keep what it knows while nothing is published, or if it was told' do
      publish_elsewhere(:de, a: '1')
      known = 2.times.map { request.call(:a, :de) && I18n.config.available_locales_set }
      expect(known.first).to be(known.last)
      I18n.available_locales = %i[de en]
      known = I18n.config.available_locales_set
      publish_elsewhere(:fr, a: '1')
      expect { request.call(:a, :fr) }.to raise_error(I18n::InvalidLocale)
      expect(I18n.config.available_locales_set).to be(known)
    end
  end

  describe 'the rule of a catalogue' do
    # The cases that all languages share.
    page = File.read(File.expand_path('../../../spec/plurals/rules.toml', __dir__))
    Tomlrb.parse(page).fetch('case').each do |rule|
      it "chooses the form: #{rule['name']}" do
        forms = [0, 1, 2, 3, 5, 11, 12, 21, 22, 100, 101].map { |count| Hammerspace.plural_form(rule['header'], count) || -1 }
        expect(forms).to eq(rule['forms'])
      end
    end

    it 'gives the first form where there is none, and where the rule is none that of English' do
      { 'nplurals=9; plural=n' => %w[b a a b], 'nplurals=2; plural=1/n' => %w[b a a b],
        'nplurals=INTEGER; plural=EXPRESSION' => %w[a b b a] }.each do |rule, expected|
        I18n.backend.hash['xx.'] = "Plural-Forms: #{rule};\n"
        I18n.backend.hash['xx.file'] = "a\0b"
        expect([1, 7, 2.0, '-1'].map { |count| I18n.t('file', count: count, locale: :xx) }).to eq(expected), rule
      end
    end
  end

  # Beside the extension lies what cargo built; where it is missing these fail: `cargo build --package hammerspace-cli`.
  command = File.expand_path('../../debug/hammerspace', ENV.fetch('HAMMERSPACE_EXTENSION', '/'))

  # By the command, and by +ours+: below the names that +prefix+ has, if any.
  define_method(:store_both) do |ours, file, prefix, yaml|
    File.write(file, yaml)
    expect(system(command, 'load', path, '--i18n', '--prefix', prefix, file, out: File::NULL)).to be(true)
    next ours.load_translations(file) if prefix.empty?

    locale, *names = prefix.split('.')
    data = YAML.unsafe_load_file(file, symbolize_names: true)
    ours.store_translations(locale, names.reverse.reduce(data) { |inner, name| { name => inner } })
  end

  it 'reads what the command loaded' do
    File.write("#{path}.de.po", %(msgid ""\nmsgstr ""\n\nmsgid "Good morning."\nmsgstr "Guten Morgen."\n))
    File.write("#{path}.de.json", %({"shop": {"apples": {"one": "ein Apfel", "other": "%{count} Äpfel"}}}))
    files = ["#{path}.de.po", "#{path}.de.json"]
    expect(system(command, 'load', path, *files, '--prefix', '{locale}.', out: File::NULL)).to be(true)
    I18n.locale = :de
    expect([I18n.t('Good morning.'), I18n.t(:'shop.apples', count: 2), I18n.t(:'shop.apples.one'), I18n.available_locales])
      .to eq(['Guten Morgen.', '2 Äpfel', 'ein Apfel', [:de]])
  end

  it 'reads the files of Rails that the command loaded' do
    File.write("#{path}.yml", <<~YAML)
      de: &german
        shop:
          title: "Laden"
          apples:
            one: ein Apfel
            other: "%{count} Äpfel"
      de-AT:
        <<: *german
        farewell: |
          Baba
    YAML
    expect(system(command, 'load', path, "#{path}.yml", out: File::NULL)).to be(true)
    I18n.locale = :'de-AT'
    expect([I18n.t(:'shop.title'), I18n.t(:'shop.apples', count: 2), I18n.t(:farewell), I18n.available_locales.sort])
      .to eq(['Laden', '2 Äpfel', "Baba\n", %i[de de-AT]])
  end

  it 'reads what the command loaded with types, lists and trees, as if it had loaded them itself' do
    page = File.read(File.expand_path('../../../docs/format/translations.md', __dir__))
    File.write("#{path}.yml", page[/```yaml\n(.*?)```/m, 1])
    expect(system(command, 'load', path, '--i18n', "#{path}.yml", out: File::NULL)).to be(true)
    ours = I18n.backend = described_class.new("#{path}.ours", durability: :none)
    ours.load_translations("#{path}.yml")
    ours.publish
    expect(Hammerspace.new(path).to_h).to eq(Hammerspace.new("#{path}.ours").to_h)
    I18n.backend = described_class.new(path)
    I18n.locale = :de
    expect([I18n.t(:'shop.open'), I18n.t(:'shop.sign'), I18n.t(:shop).keys, I18n.t(:'date.order'), I18n.t(:number)])
      .to eq([true, 'Laden', %i[title open apples sign e.g.], %i[day month year], { precision: 3, delimiter: '.' }])
  end

  # One after the other into the same space; below so many names, which are in the file or in the prefix.
  [['', 'de: {a: {x: 1, y: {z: t}}, b: t, c: {d: t}, e: {}}'],
   ['', 'de: {a: {y: ~, w: 2}, b: {x: ~}, c: t, e: {f: ~}, g: {h: ~}, i: ~}'],
   ['', 'de: {a: {x: 1}, b: 1, a: {v: 2}, b: {x: 2}, "p.q": 1}'],
   ['', ":de:\n  :a:\n  - :b\n  - :c: 1\n    d: :e\n    c: ~", "  :\"f g\": :h\n  1: one\n  \"yes\": two\n  0.5: [~]"],
   ['', 'de: {list: [[], {}, [{}], {a: {b: [c]}, a: 2}, +.5, -3, "3", "~", ":x"]}'],
   ['', 'fr: &fr {a: {x: un, y: deux}, b: b}', 'it: {<<: *fr, c: c, b: B}'],
   ['', "x: &x {a: 1, b: {c: 2}}\ny: &y {a: 3}\nz: {m: {n: 0, <<: [*x, *y], b: {e: 5}}}"],
   ['', "a: {d: ! '%d-%m', n: ! 3, s: !ruby/symbol x, t: !!str 3, id: 344455e6, e: 1e3, m: 1.5e3}"],
   ['', "p: &p {a: 1, b: 1}", "q: &q {a: 2, c: 2}", 'r: {<<: *p, <<: *q}', 'u: {<<: [*p, *q]}', 'v: {x: 1, x: {y: 2}, x: {z: 3}}'],
   ['', "w:\t{x: y}", "x:", '  y: "one', 'two"', '  z: [', '    1', ']'],
   ['', 'de: {t: {1: a, +2: b, -3: c, 0: d, "4": e}, l: [{1: a, b: c}], since: 2026-11-25, far: .inf}', 'fr: {t: {1: ~}}'],
   ['', 'de: ~', 'es: {}'],
   ['de.', '{a: {x: ~}, new: t}'],
   ['de.shop.window.', '{a: {x: 1}, b: ~}'],
   ['de.shop.', '{window: ~}'],
   ['pt-BR.', '{a: ~, b: {c: ~}}']].each_with_object([]) do |(prefix, *lines), before|
    before += [[prefix, lines.join("\n")]]
    it "stores what the command loads of #{before.last.inspect}" do
      ours = described_class.new("#{path}.ours", durability: :none)
      before.each_with_index { |(names, text), at| store_both(ours, "#{path}.#{at}.yml", names, text) }
      ours.publish
      expect(Hammerspace.new(path).to_h).to eq(Hammerspace.new("#{path}.ours").to_h)
    end
  end

  it 'localizes by the files of Rails that the command loaded' do
    File.write("#{path}.en.yml", <<~YAML)
      date: &date
        formats: {short: "%b %d"}
        abbr_month_names: [~, Jan, Feb, Mar]
      time: {formats: {short: "%d %b %H:%M"}, am: am, pm: pm}
      number: {format: {precision: 3, strip_insignificant_zeros: false, separator: "."}}
    YAML
    expect(system(command, 'load', path, '--i18n', '--prefix', '{locale}.', "#{path}.en.yml", out: File::NULL)).to be(true)
    I18n.locale = :en
    expect([I18n.l(Date.new(2026, 3, 1), format: :short), I18n.t(:'number.format')])
      .to eq(['Mar 01', { precision: 3, strip_insignificant_zeros: false, separator: '.' }])
    expect(I18n.t(:date)[:abbr_month_names]).to eq([nil, 'Jan', 'Feb', 'Mar'])
  end

  it 'says what cannot be stored, and what it cannot read' do
    expect { store(:de, a: Float::NAN) }.to raise_error(Hammerspace::InvalidError, /NaN/)
    expect { I18n.backend.store_translations(:title, 'Laden') }.to raise_error(Hammerspace::InvalidError, /below title/)
    expect { store(:de, a: ["\xff"]) }.to raise_error(Hammerspace::InvalidError, /no translation/)
    store(:de, a: 'ü'.encode('UTF-16LE'), deep: (1..100).reduce('end') { |inner, _| [inner] })
    expect(I18n.t(:a, locale: :de)).to eq('ü')
    expect(I18n.t(:deep, locale: :de).flatten).to eq(['end'])
    I18n.backend.hash['de.b'] = "\0[1"
    I18n.backend.hash['de.c'] = "\0{\"set\":[1]}"
    expect { I18n.t(:b, locale: :de) }.to raise_error(Hammerspace::CorruptError, /store it again/)
    expect { I18n.t(:c, locale: :de) }.to raise_error(Hammerspace::UnsupportedError, /"set"/)
  end

  it 'makes no locale of an empty file' do
    store(:de)
    expect(I18n.available_locales).to eq([])
  end

  it 'adds to what the command loaded, and the command to that' do
    { 'one' => %({"de": {"apples": {"one": "ein Apfel", "other": "%{count} Äpfel"}}}),
      'two' => %({"de": {"pears": {"one": "eine Birne", "other": "%{count} Birnen"}}}) }.each do |name, text|
      File.write("#{path}.#{name}.json", text)
    end
    expect(system(command, 'load', path, "#{path}.one.json", out: File::NULL)).to be(true)
    store(:de, apples: { zero: 'kein Apfel' }, pears: { zero: 'keine Birne', other: 'zu ersetzen' })
    I18n.backend.publish
    expect(system(command, 'load', path, "#{path}.two.json", out: File::NULL)).to be(true)
    I18n.backend.refresh
    I18n.locale = :de
    expect([0, 1, 2].map { |count| I18n.t(:apples, count: count) }).to eq(['kein Apfel', 'ein Apfel', '2 Äpfel'])
    expect([0, 1, 2].map { |count| I18n.t(:pears, count: count) }).to eq(['keine Birne', 'eine Birne', '2 Birnen'])
    expect(I18n.t(:apples)).to eq(zero: 'kein Apfel', one: 'ein Apfel', other: '%{count} Äpfel')
    store(:de, apples: { one: nil })
    expect(I18n.t(:apples)).to eq(zero: 'kein Apfel', other: '%{count} Äpfel')
  end

  it 'pluralizes what the command loaded by the rule of its catalogue' do
    File.write("#{path}.pl.po", <<~PO)
      msgid ""
      msgstr "Plural-Forms: nplurals=3; plural=n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2;\\n"

      msgid "file"
      msgid_plural "files"
      msgstr[0] "%{count} plik"
      msgstr[1] "%{count} pliki"
      msgstr[2] "%{count} plików"
    PO
    options = ['--prefix', '{locale}.', '--catalogue-header']
    expect(system(command, 'load', path, "#{path}.pl.po", *options, out: File::NULL)).to be(true)
    I18n.locale = :pl
    expect([1, 2, 5, 22].map { |count| I18n.t('file', count: count) }).to eq(['1 plik', '2 pliki', '5 plików', '22 pliki'])
    expect([I18n.t('file'), I18n.available_locales]).to eq(['%{count} plik', [:pl]])
  end
end
