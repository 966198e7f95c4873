/**
 * Copies the compiled tools into this folder, from which they are packed: `npm pack ./tools`, after `npm run build`.
 */
import { cpSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const target = fileURLToPath(new URL('dist', import.meta.url))
const compiled = fileURLToPath(new URL('../dist/tools', import.meta.url))
rmSync(target, { recursive: true, force: true })
cpSync(compiled, target, { recursive: true, filter: (path) => !/\.(d\.ts|map)$/.test(path) })
