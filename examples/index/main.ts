/**
 * An index of three nodes, and a client that counts in it. One node is killed while the client counts, and a new one
 * takes its place. Run it after `npm run build`:
 *
 *     node dist/examples/index/main.js
 *
 * The exit status is 1 if a count that was confirmed is lost.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { connectIndex, IndexError } from 'aether-dsm/index-service'

const COUNT_MS = 500

const name = `counted-${process.pid}`
const nodes: ChildProcess[] = []

function startNode(): ChildProcess {
  const node = fork(fileURLToPath(new URL('./node.js', import.meta.url)), [name])
  nodes.push(node)
  return node
}

try {
  await Promise.all([startNode(), startNode(), startNode()].map((node) => once(node, 'message')))
  console.log('three nodes are ready')

  await using index = await connectIndex(name)
  let confirmed = 0
  let unknown = 0
  let stops = false
  const counting = (async () => {
    while (!stops)
      try {
        await index.increment('count')
        confirmed += 1
      } catch (error) {
        // The node was killed before it could answer.
        if (!(error instanceof IndexError && error.outcome === 'unknown')) throw error
        unknown += 1
      }
  })()

  await sleep(COUNT_MS)
  nodes[0]!.kill('SIGKILL')
  console.log(`a node was killed after ${confirmed} counts`)
  await once(startNode(), 'message')
  console.log(`a new one has everything after ${confirmed} counts`)
  await sleep(COUNT_MS)
  stops = true
  await counting

  const count = Number(await index.get('count'))
  console.log(`${confirmed} counts were confirmed, of ${unknown} it is not known; the index has ${count}`)
  if (count < confirmed || count > confirmed + unknown) {
    console.error('counts were lost, or made up')
    process.exitCode = 1
  }
} finally {
  for (const node of nodes) node.kill('SIGKILL')
}
