/**
 * Compiles every NAME.wat under src/ to the module NAME-program.ts beside it, which has the program as text: what is
 * published then reads no file. The results are kept with the sources, so a build does not need this.
 *
 *   node scripts/web-assembly.mjs           write them
 *   node scripts/web-assembly.mjs --check   fail if one is not what its source says
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import wabt from 'wabt'

const LINE = 100
const check = process.argv.includes('--check')
const source = fileURLToPath(new URL('../src', import.meta.url))
const compiler = await wabt()

/** @param {string} path */
function programOf(path) {
  const parsed = compiler.parseWat(path, readFileSync(join(source, path), 'utf8'), { threads: true })
  const text = Buffer.from(parsed.toBinary({}).buffer).toString('base64')
  parsed.destroy()
  const lines = text.match(new RegExp(`.{1,${LINE}}`, 'g')) ?? []
  return `// Made from ${basename(path)} by scripts/web-assembly.mjs.
/** A WebAssembly module, in base64. */
export const program: string = [
${lines.map((line) => `  '${line}',`).join('\n')}
].join('')
`
}

const paths = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.wat'))
for (const path of paths) {
  const target = join(source, path.replace(/\.wat$/, '-program.ts'))
  const made = programOf(path)
  if (existsSync(target) && readFileSync(target, 'utf8') === made) continue
  if (check) {
    console.error(`${target} is not what ${basename(path)} says; run: node scripts/web-assembly.mjs`)
    process.exitCode = 1
  } else writeFileSync(target, made)
}
