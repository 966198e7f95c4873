import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { aether } from '../../cli/command-line.ts'

const skip = process.platform === 'linux' ? false : 'the shm device needs Linux'

test('a run is held against an earlier one, and written as a page that needs nothing else', { skip }, () => {
  const directory = mkdtempSync(join(tmpdir(), 'aether-bench-test-'))
  const [earlier, page] = [join(directory, 'earlier.json'), join(directory, 'page.html')]
  const short = ['bench', 'rpc', '--sizes', '8,64', '--time-ms', '1', '--depths', '1,2', '--clients', '1']
  try {
    const first = aether(...short, '--peers', 'none', '--json')
    assert.equal(first.status, 0, first.stderr)
    const rows = JSON.parse(first.stdout) as { op: string }[]
    writeFileSync(earlier, JSON.stringify(rows.filter(({ op }) => op !== 'call-2')))
    const { status, stdout, stderr } = aether(...short, '--peers', 'socket', '--compare', earlier, '--html', page)
    assert.equal(status, 0, stderr)
    assert.match(stdout, /\n {2}call-1 +shm +8 B .* [\d.]+x\n/)
    assert.match(stdout, /\n {2}call-2 +shm +8 B .* no such row\n/)
    const html = readFileSync(page, 'utf8')
    assert.match(html, /<figcaption>call-1<\/figcaption><ul class="legend">.*<svg/)
    assert.match(html, /<figcaption>calls in progress of one client, 8 B<\/figcaption>/)
    assert.match(html, /Unix socket, 64 B: /)
    assert.doesNotMatch(html, /NaN|undefined|Infinity|<script|https?:/)
  } finally {
    rmSync(directory, { recursive: true })
  }
  const missing = aether('bench', 'latency', '--compare', '/nonexistent/rows.json')
  assert.equal(missing.status, 1)
  assert.match(missing.stderr, /^aether: --compare: \/nonexistent\/rows.json cannot be read: there is no such file/)
})
