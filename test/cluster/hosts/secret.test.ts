import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { makeSecret, readSecret, SECRET_BYTES_MIN, SecretError } from '../../../src/runtime/secret.ts'

const folder = mkdtempSync(join(tmpdir(), 'aether-test-secret-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const path = join(folder, 'secret')

function write(bytes: string | Buffer, mode: number = 0o600): void {
  rmSync(path, { force: true })
  writeFileSync(path, bytes)
  chmodSync(path, mode)
}

const refused = (message: RegExp, file: string | undefined = path) => {
  assert.throws(
    () => readSecret(file),
    (error) => error instanceof SecretError && error.code === 'ERR_AETHER_SECRET' && message.test(error.message),
  )
}

test('the secret is the bytes of the file without its line end', () => {
  const bytes = Buffer.from(Array.from({ length: SECRET_BYTES_MIN }, (_, index) => index))
  write(bytes)
  assert.deepEqual(readSecret(path), bytes)
  write(Buffer.concat([bytes, Buffer.from('\n')]), 0o400)
  assert.deepEqual(readSecret(path), bytes)
})

test('a secret that was made is read as it was written, whatever its bytes are', () => {
  for (let count = 0; count < 2000; count += 1) {
    const secret = makeSecret()
    write(secret)
    assert.deepEqual(readSecret(path), secret)
  }
})

test('a secret that others can read or write is refused with the command that mends it', () => {
  for (const mode of [0o640, 0o604, 0o620, 0o602]) {
    write('x'.repeat(SECRET_BYTES_MIN), mode)
    refused(/run: chmod 600/)
  }
})

test('a secret that can be guessed, and a file that is none, are refused', () => {
  write('x'.repeat(SECRET_BYTES_MIN - 1))
  refused(/has 31: a secret has 32 to 4096 bytes/)
  write(`${'x'.repeat(SECRET_BYTES_MIN - 1)}\n`)
  refused(/has 31/)
  write('')
  refused(/has 0/)
  write('x'.repeat(5000))
  refused(/has more/)
  refused(/is not a file/, folder)
  refused(/cannot be read \(ENOENT/, join(folder, 'nowhere'))
})

test('no secret at all is refused by saying how to make one', () => {
  refused(/AETHER_SECRET_FILE; make one with/, '')
  assert.throws(() => readSecret(undefined), SecretError)
})
