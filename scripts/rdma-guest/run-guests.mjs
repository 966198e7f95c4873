/** Boots one guest, or two joined by a cable, and runs one command in each. */
import { realpathSync } from 'node:fs'
import { acceleratorOptions } from './accelerator.mjs'
import { temporaryFolder } from './cleanup.mjs'
import { makeInitrd, runGuest } from './guest.mjs'
import { guestKernel } from './kernel.mjs'
import { linePrefixer } from './line-prefixer.mjs'

/**
 * @param options
 * `{ hosts = 1, timeoutS = 300, share, memory = '4G', processors = 2, command, directory = cwd, companion = false,
 * mayEnd, label = '' }`. The command may be a function of the host. With `companion` the second host is there for the
 * first, and is stopped when that ends. Where it ends before, and `mayEnd()` is false then, the first is stopped too.
 * `label` stands before each line of a single guest.
 * @returns `{ status, hosts: [{ status, reason }], accelerator, companionEnd }`, the status that of the first host that
 * failed; `companionEnd` says how a companion ended that was not to
 */
export async function runGuests(options) {
  const {
    hosts = 1,
    timeoutS = 300,
    share,
    memory = '4G',
    processors = 2,
    command,
    directory = process.cwd(),
    companion = false,
    mayEnd = () => false,
    label = '',
  } = options
  const say = (text) => console.error(`rdma-guest: ${text}`)
  const kernel = guestKernel(say)
  const folder = temporaryFolder()
  const accelerator = acceleratorOptions(folder)
  const initrd = makeInitrd(folder, kernel)
  const ends = Array.from({ length: hosts }, () => new AbortController())
  let companionEnd
  const boot = (host) => {
    const name = hosts === 1 ? label : `h${host}`
    const output = linePrefixer(name === '' ? '' : `${name}| `, process.stdout)
    return runGuest({
      ...{ host, hosts, folder, kernel, initrd, accelerator, memory, processors, directory },
      share: share === undefined ? undefined : realpathSync(share),
      command: typeof command === 'function' ? command(host) : command,
      timeoutMs: timeoutS * 1000,
      onOutput: output.write,
      onDeadBoot: (reason) => say(`${reason}\nrdma-guest: host ${host} is booted again`),
      signal: ends[host].signal,
    })
      .then((result) => {
        if (companion && host === 1 && !ends[1].signal.aborted && !mayEnd()) {
          companionEnd = result.reason ?? `host 1 ended with status ${result.status}`
          ends[0].abort()
        }
        return result
      })
      .finally(() => {
        output.end()
        if (companion && host === 0) ends[1].abort()
      })
  }
  const results = await Promise.all(Array.from({ length: hosts }, (_, host) => boot(host)))
  const counted = companion ? results.slice(0, 1) : results
  for (const { reason } of counted) if (reason !== undefined) say(reason)
  return { status: counted.find(({ status }) => status !== 0)?.status ?? 0, hosts: results, accelerator, companionEnd }
}
