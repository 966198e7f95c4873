import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { RotatingLog } from '../../../src/dsm/recording/rotating-log.ts'

function inDirectory(work: (directory: string) => void): void {
  const directory = mkdtempSync(join(tmpdir(), 'aether-rotating-'))
  try {
    work(directory)
  } finally {
    rmSync(directory, { recursive: true })
  }
}

const linesOf = (path: string): string[] => readFileSync(path, 'utf8').trimEnd().split('\n')

test('lines go on from part to part, each with its header, and only the newest parts are kept', () =>
  inDirectory((directory) => {
    let header = 0
    const log = new RotatingLog({
      directory,
      name: 'rank-3',
      partBytes: 100,
      parts: 3,
      header: (part) => `header ${part} at ${header}`,
    })
    const lines = Array.from({ length: 60 }, (_, index) => `line ${index}`)
    for (const line of lines) {
      log.append(line)
      header += 1
      log.flush()
    }
    log.close()
    const files = readdirSync(directory).sort((a, b) => Number(a.split('.')[1]) - Number(b.split('.')[1]))
    assert.equal(files.length, 3)
    const kept = files.flatMap((file, index) => {
      const [first, ...rest] = linesOf(join(directory, file))
      const part = Number(file.split('.')[1])
      assert.equal(file, `rank-3.${part}.jsonl`)
      if (index > 0) assert.equal(part, Number(files[index - 1]!.split('.')[1]) + 1)
      if (rest.length > 0) assert.equal(first, `header ${part} at ${rest[0]!.split(' ')[1]}`)
      return rest
    })
    assert.ok(kept.length > 0)
    assert.deepEqual(kept, lines.slice(-kept.length))
  }))

test('what was flushed can be read while the log is open; closing writes the rest and may be repeated', () =>
  inDirectory((directory) => {
    const log = new RotatingLog({ directory, name: 'x', partBytes: 1e6, parts: 2, header: () => 'header' })
    log.append('one')
    log.flush()
    assert.deepEqual(linesOf(log.path), ['header', 'one'])
    log.append('two')
    const { path } = log
    log.close()
    log.close()
    assert.deepEqual(linesOf(path), ['header', 'one', 'two'])
  }))

test('a directory that cannot be made is an error at once', () =>
  inDirectory((directory) => {
    const options = { name: 'x', partBytes: 1, parts: 1, header: () => '' }
    assert.throws(() => new RotatingLog({ ...options, directory: join('/proc/version', directory) }), /ENOTDIR|ENOENT/)
  }))
