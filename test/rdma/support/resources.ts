import { execFileSync } from 'node:child_process'

/** What the kernel holds for a device: counts of `pd`, `cq`, `qp`, `mr`, `srq`, `ctx` and more. */
export type Resources = Readonly<Record<string, number>>

/** `rdma resource show`, of this host. */
export function rdmaResources(device = 'rxe0'): Resources {
  return parseResources(execFileSync('rdma', ['resource', 'show'], { encoding: 'utf8' }), device)
}

/** `0: rxe0: pd 1 cq 1 qp 1 …` */
export function parseResources(text: string, device = 'rxe0'): Resources {
  const line = text.split('\n').find((each) => each.includes(` ${device}:`))
  if (line === undefined) throw new Error(`rdma resource show does not name ${device}: ${text}`)
  const words = line
    .slice(line.indexOf(`${device}:`) + device.length + 1)
    .trim()
    .split(/\s+/)
  const pairs: [string, number][] = []
  for (let index = 0; index + 1 < words.length; index += 2) pairs.push([words[index]!, Number(words[index + 1])])
  return Object.fromEntries(pairs)
}
