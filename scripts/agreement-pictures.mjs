/**
 * Draws the pictures of docs/agreement/: each by the command that the page names, `… --page agreement-NAME.svg`.
 * `node scripts/agreement-pictures.mjs` writes docs/images/agreement-NAME.svg, and is part of `npm run docs`. With
 * `--check` it writes nothing, and fails if one is not as the command draws it. A test does that.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const images = join(root, 'docs/images')
const isCheck = process.argv.includes('--check')

/** The arguments of each command, by the name of its picture. */
const pictures = new Map(
  readdirSync(join(root, 'docs/agreement'))
    .map((name) => readFileSync(join(root, 'docs/agreement', name), 'utf8'))
    .flatMap((text) => [...text.matchAll(/^npx aether-dsm (agreement .* --page (agreement-\S+\.svg))$/gm)])
    .map(([, line, name]) => [name, line.split(' ')]),
)

const folder = mkdtempSync(join(tmpdir(), 'aether-pictures-'))
const wrong = readdirSync(images).filter((name) => /^agreement-.*\.svg$/.test(name) && !pictures.has(name))
for (const [name, words] of pictures) {
  execFileSync(process.execPath, [join(root, 'dist/src/cli/main.js'), ...words], { cwd: folder, stdio: 'pipe' })
  const drawn = readFileSync(join(folder, name), 'utf8')
  if (isCheck && drawn !== readIfThere(join(images, name))) wrong.push(name)
  if (!isCheck) writeFileSync(join(images, name), drawn)
}
rmSync(folder, { recursive: true })
if (isCheck && wrong.length > 0) {
  console.error(`not what is drawn now: ${wrong.join(', ')}; run 'node scripts/agreement-pictures.mjs'`)
  process.exitCode = 1
} else if (!isCheck) for (const name of wrong) rmSync(join(images, name))
console.log(`${pictures.size} pictures`)

/** @param {string} path */
function readIfThere(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    throw error
  }
}
