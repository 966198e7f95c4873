import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { pathToFileURL } from 'node:url'
import { root, SeededTree } from './checkout.ts'

const words = (count: number): string =>
  Array.from({ length: count }, (_, index) => (index === 0 ? 'Words' : 'more')).join(' ')
const long = `${words(26)}.`
const good = 'The page moves to the rank that writes it. Every other copy is invalidated first.'

interface Finding {
  /** From 0. */
  readonly line: number
  readonly rule: string
  readonly text: string
}

const rulesOf = (name: string): string => pathToFileURL(join(root, 'scripts/prose', name)).href
const { wrongInMarkdown } = (await import(rulesOf('markdown.mjs'))) as {
  wrongInMarkdown(text: string): Iterable<Finding>
}
const { wrongInTypeScript } = (await import(rulesOf('typescript.mjs'))) as {
  wrongInTypeScript(text: string, file: string): Iterable<Finding>
}

/** What `npm run lint:prose` prints about `file` with this text, without the file's name. */
function findings(file: string, text: string): string[] {
  const found = file.endsWith('.md') ? wrongInMarkdown(text) : wrongInTypeScript(text, file)
  return [...found].map(({ line, rule, text }) => `${line + 1}: ${rule}: ${text}`)
}

/** Lines and rules only. */
function rules(file: string, text: string): string[] {
  return findings(file, text).map((line) => /^\d+: (?:help: |message: )?[^:]*/.exec(line)?.[0] ?? line)
}

test('a sentence has at most 25 words, wherever it stands in a page', () => {
  const rule = 'sentence of 26 words, at most 25'
  assert.deepEqual(rules('a.md', `${words(25)}.\n\n${long}\n`), [`3: ${rule}`])
  assert.deepEqual(rules('a.md', `${good}\n${long}\n`), [`2: ${rule}`], 'the line on which it starts')
  assert.deepEqual(rules('a.md', `1. ${good}\n   - ${long}\n`), [`2: ${rule}`])
  assert.deepEqual(rules('a.md', `| a | b |\n|---|---|\n| c | ${long} |\n`), [`3: ${rule}`])
})

test('code spans are one word, links are their text, headings and blocks of code are not prose', () => {
  assert.deepEqual(findings('a.md', `${words(24)} \`${words(9)}\`.\n`), [])
  assert.deepEqual(findings('a.md', `${words(24)} [link](https://example.org/a/b).\n`), [])
  assert.deepEqual(
    findings('a.md', `# ${long}\n\n\`\`\`ts\n${long} anew\n\`\`\`\n\n| ${words(30)} |\n|---|\n| a |\n`),
    [],
  )
  assert.deepEqual(findings('a.md', `<!-- ${long} anew -->\n`), [])
})

test('neither an abbreviation nor the end of a line ends a sentence', () => {
  assert.equal(findings('a.md', `${words(13)}, e.g. ${words(13).toLowerCase()}.\n`).length, 1)
  assert.equal(findings('a.md', `${words(13)}\n${words(13)}.\n`).length, 1)
})

test('a paragraph has at most 600 characters, and so has a list item', () => {
  const sentence = 'Pages that no rank has written since the last barrier stay where they are.'
  const paragraph = (count: number): string => Array.from({ length: count }, () => sentence).join(' ')
  assert.deepEqual(findings('a.md', `${paragraph(8)}\n`), [])
  assert.deepEqual(rules('a.md', `${paragraph(9)}\n`), ['1: paragraph of 674 characters, at most 600'])
  assert.deepEqual(rules('a.md', `- ${paragraph(9)}\n`), ['1: paragraph of 674 characters, at most 600'])
})

test('each phrase is caught and comes with what to write', () => {
  const expected: Readonly<Record<string, string>> = {
    'It is measured anew.': '"anew", write again',
    'It has changed of late.': '"of late", write recently',
    'It sends so many messages.': '"so many", write as many',
    'Nobody waits for it.': '"Nobody", write no one, or the subject that acts',
    'Whoever joins is told.': '"Whoever", write any process that, a caller that; or: if …',
    'Who watches the space takes no lock.': '"Who watches the space", write the subject that acts: "A process that …"',
    'Is the page here, it is read.': '"Is the page here,", write If …',
    'A rank that is none is refused.': '"that is none", write is not a …',
    'A watcher is no member.': '"is no", write is not a',
    'The ranks, of whom two died, go on.': '"of whom", write whose',
    'It is read from the begin.': '"the begin", write start',
    'A process closes what he opened.': '"he", write it; or: you',
    'It waits for the dead.': '"the dead", write a process (rank, peer) that died',
    'A round trip there and back.': '"there and back", write round trip',
    'It takes some 140 µs.': '"some", write about',
    'Now it works!': '"Now it works!", write a full stop: no exclamation marks',
  }
  const texts = Object.keys(expected)
  assert.deepEqual(
    findings('a.md', texts.join('\n\n')),
    texts.map((text, index) => `${2 * index + 1}: ${expected[text]}: ${text}`),
  )
})

test('good English passes', () => {
  const text = [
    'So many pages were lost that the region ended. There is no file. If there is none, the call fails.',
    'Who is it? Which rank writes? None of them is dead. The dead rank is not waited for. A late reply is dropped.',
    'A list of who is there; it is not so much a lock as a hint. The operations begin at the start of the segment.',
    'See the page, i.e. the table. Some ranks wait. "Here" is not "there". The value is `nobody`.',
  ]
  assert.deepEqual(findings('a.md', `${text.join('\n\n')}\n`), [])
})

test('JSDoc of what is exported is prose, members included; what is private is not', () => {
  const source = [
    `/** ${long} */`, // 1
    'export interface Region {', // 2
    '  /**', // 3
    `   * ${good}`, // 4
    `   * @param offset - ${long}`, // 5
    '   */', // 6
    '  read(offset: number): number', // 7
    '}', // 8
    `/** ${long} */`, // 9
    'const hidden = 1', // 10
    'export class Space {', // 11
    `  /** ${long} */`, // 12
    '  #own = hidden', // 13
    `  /** ${long} */`, // 14
    '  private own = hidden', // 15
    '  open(): void {', // 16
    `    // ${long}`, // 17
    '  }', // 18
    '}', // 19
    `/** ${long} */`, // 20
    'class Late {}', // 21
    'export { Late }', // 22
    '',
  ].join('\n')
  const isSentence = (rule: string): boolean => rule.includes('sentence')
  assert.deepEqual(rules('src/region.ts', source).filter(isSentence), [
    '1: sentence of 26 words, at most 25',
    '5: sentence of 26 words, at most 25',
    '20: sentence of 26 words, at most 25',
  ])
})

test('in every comment, phrases and columns are looked at; strings that only look like comments are not', () => {
  const source = [
    '// It is measured', // 1
    '// anew.', // 2
    `const a = '/* anew */' // ${'x'.repeat(120)}`, // 3
    `/* ${'y'.repeat(120)}`, // 4
    ' */', // 5
    `const b = '${'z'.repeat(120)}'`, // 6
    '',
  ].join('\n')
  assert.deepEqual(rules('src/region.ts', source), [
    '1: "anew", write again',
    '3: comment to column 146, at most 120',
    '4: comment to column 123, at most 120',
  ])
})

test('comments of examples are prose; what a program prints is not', () => {
  const source = `// ${words(13)}\n// ${words(13)}.\nconsole.log(1) // prints ${'a '.repeat(30)}\n`
  assert.deepEqual(rules('examples/sum.ts', source), ['1: sentence of 26 words, at most 25'])
})

test('messages of errors are prose, an expression in them is a word', () => {
  const source = [
    `throw new RegionError('ERR_NONE', 'nobody has it')`, // 1
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a template of the program that is checked
    'throw new TypeError(`${name} is measured anew`)', // 2
    `throw new RangeError(isLate ? '${long}' : 'late')`, // 3
    `log('measured anew')`, // 4
    '',
  ].join('\n')
  assert.deepEqual(findings('src/region.ts', source), [
    '1: message: "nobody", write no one, or the subject that acts: nobody has it',
    '2: message: "anew", write again: `name` is measured anew',
    `3: message: sentence of 26 words, at most 25: ${long}`,
  ])
})

test('the help of commands is prose: each entry of a table is a sentence, commands to type are not', () => {
  const source = [
    'const help = `Usage: aether run [options]', // 1
    '', // 2
    long, // 3
    '', // 4
    'Options:', // 5
    `  --ranks N     ${words(13)}`, // 6
    `                ${words(13)}`, // 7
    `  --size BYTES  ${words(20)}`, // 8
    '', // 9
    `  - ${words(20)}`, // 10
    `  - ${words(20)}`, // 11
    '', // 12
    'Examples:', // 13
    `  aether run ${words(30)}\``, // 14
    `export const run = { help, summary: 'made anew' }`, // 15
    '',
  ].join('\n')
  const expected = [
    '3: help: sentence of 26 words, at most 25',
    '6: help: sentence of 26 words, at most 25',
    '15: message: "anew", write again',
  ]
  assert.deepEqual(rules('src/cli/run.ts', source), expected)
  assert.deepEqual(rules('tools/commands/bench.ts', source), expected, 'commands of the tools, too')
  assert.deepEqual(rules('src/rpc/run.ts', source), [], 'elsewhere it is a string')
})

test("texts of the dashboard's page are prose; styles and names are not", () => {
  const source = [
    `make('p', { class: 'nobody anew' }, 'Nobody is here yet.')`, // 1
    `element.style.cssText = 'flex:1;border:1px solid anew'`, // 2
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a template of the program that is checked
    'make("small", {}, `${count} rows are read anew`)', // 3
    '',
  ].join('\n')
  assert.deepEqual(findings('web/empty-view.ts', source), [
    '1: text: "Nobody", write no one, or the subject that acts: Nobody is here yet.',
    '3: text: "anew", write again: `count` rows are read anew',
  ])
  assert.deepEqual(findings('src/rpc/empty-view.ts', source), [])
})

test('--wrap wraps comments that are too wide, and touches neither code, drawings nor narrow paragraphs', () => {
  const wide = `${words(13)} \`a code span\` ${words(13)}`
  const narrow = [' * Narrow', ' * lines stay.', ' *', ' * ```', ` * ${'-'.repeat(130)}`, ' * ```']
  const source = ['/**', ...narrow, ` * ${wide}`, ' * more.', ` * - ${wide}`, ' */']
  const member = [`  /** ${wide} */`, `  a = '${'x'.repeat(130)}' // ${'y'.repeat(130)}`]
  const comment = [`// ${wide} - ${wide}`, `/* ${wide} ${wide} */`]
  using tree = new SeededTree({ 'src/a.ts': [...source, 'class A {', ...member, '}', ...comment, ''].join('\n') })
  const run = (): string[] => {
    const arguments_ = [join(root, 'scripts/lint-prose.mjs'), '--wrap', 'src/a.ts']
    const { stderr } = spawnSync(process.execPath, arguments_, { cwd: tree.path, encoding: 'utf8' })
    assert.equal(stderr, '')
    return readFileSync(join(tree.path, 'src/a.ts'), 'utf8').split('\n')
  }
  const lines = run()
  const expected = [
    '/**',
    ...narrow,
    ' * Words more more more more more more more more more more more more `a code span` Words more more more more more more',
    ' * more more more more more more more.',
    ' * - Words more more more more more more more more more more more more `a code span` Words more more more more more more',
    ' *   more more more more more more',
    ' */',
    'class A {',
    '  /**',
    '   * Words more more more more more more more more more more more more `a code span` Words more more more more more more',
    '   * more more more more more more',
    '   */',
    member[1],
    '}',
    '// Words more more more more more more more more more more more more `a code span` Words more more more more more more',
    '// more more more more more more - Words more more more more more more more more more more more more `a code span` Words',
    '// more more more more more more more more more more more more',
    comment[1],
    '',
  ]
  assert.deepEqual(lines, expected)
  assert.deepEqual(run(), expected, 'a second time changes nothing')
})

test('what is found is printed with its file, and ends the run with 1', () => {
  using tree = new SeededTree({ 'a.md': `${long}\n`, 'b.md': `${good}\n` })
  const run = (...files: string[]) =>
    spawnSync(process.execPath, [join(root, 'scripts/lint-prose.mjs'), ...files], { cwd: tree.path, encoding: 'utf8' })
  const both = run('a.md', 'b.md')
  assert.deepEqual(
    [both.status, both.stdout, both.stderr],
    [1, `a.md:1: sentence of 26 words, at most 25: ${long}\n`, ''],
  )
  assert.equal(run('b.md').status, 0)
})

test('--help says what is checked; a file that cannot be is an error', () => {
  const run = (...arguments_: string[]) =>
    spawnSync(process.execPath, [join(root, 'scripts/lint-prose.mjs'), ...arguments_], { cwd: root, encoding: 'utf8' })
  assert.match(run('--help').stdout, /^Usage: node scripts\/lint-prose\.mjs/)
  assert.notEqual(run('no-such-file.md').status, 0)
  assert.notEqual(run('LICENSE').status, 0)
})
