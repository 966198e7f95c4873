import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as cm from '../../src/public/cm.ts'
import { ArgumentError } from '../../src/public/index.ts'
import * as messaging from '../../src/public/messaging.ts'
import * as rpc from '../../src/public/rpc.ts'

/** Calls with wrong options, as a program in JavaScript makes them, and what the error must say. */
const place = { device: 'shm0', address: '127.0.0.1' }
const peer = { ...place, port: 9 }
const accept = (): void => {}
const module = 'file:///handlers.js'
const server = rpc.createServer()
const calls: Readonly<Record<string, readonly [call: () => unknown, tells: RegExp]>> = {
  'server.listen with a device that is not there': [
    () => server.listen({ device: 'mlx' }),
    /device must be .*: .*shm0.*not 'mlx'/,
  ],
  'server.listen with a port that is too large': [
    () => server.listen({ ...place, port: 99_999 }),
    /port must be a whole number from 0 to 65535, not 99999/,
  ],
  'server.listen with a port that is a symbol': [
    () => server.listen({ ...place, port: Symbol('s') as never }),
    /port must be a whole number from 0 to 65535, not a symbol/,
  ],
  'server.listen': [() => server.listen(misspelt(place, 'prot')), /option 'prot' of listen; did you mean 'port'/],
  'server.drain': [() => server.drain(misspelt({}, 'timeoutms')), /did you mean 'timeoutMs'/],
  openChannel: [() => rpc.openChannel(misspelt(peer, 'devise')), /did you mean 'device'/],
  unary: [() => rpc.unary(misspelt({}, 'reqest')), /option 'reqest' of unary; did you mean 'request'/],
  rdmaCall: [() => rpc.rdmaCall(misspelt({ buffers: 'both' as const }, 'codek')), /did you mean 'codec'/],
  'rdmaCall without buffers': [
    () => rpc.rdmaCall({ buffers: 'neither' as never }),
    /buffers must be 'source', 'target' or 'both', not 'neither'/,
  ],
  defineService: [() => rpc.defineService(misspelt({ name: 's', methods: {} }, 'eror')), /did you mean 'errors'/],
  serveOnThreads: [() => rpc.serveOnThreads(misspelt({ threads: { module } }, 'thread')), /did you mean 'threads'/],
  'serveOnThreads in its threads': [
    () => rpc.serveOnThreads({ threads: misspelt({ module }, 'cont') }),
    /unknown name 'cont' in threads of serveOnThreads; did you mean 'count'/,
  ],
  connectLink: [() => messaging.connectLink(misspelt(peer, 'ringByte')), /did you mean 'ringBytes'/],
  'connectLink in its limit': [
    () => messaging.connectLink({ ...peer, sendLimit: misspelt({}, 'burstByte') }),
    /unknown name 'burstByte' in sendLimit .*did you mean 'burstBytes'/,
  ],
  listenLinks: [
    () => messaging.listenLinks(misspelt({ ...place, onLink: accept }, 'onLinks')),
    /did you mean 'onLink'/,
  ],
  connectEndpoint: [() => messaging.connectEndpoint(misspelt(peer, 'conected')), /did you mean 'connected'/],
  keepConnected: [
    () => messaging.keepConnected(misspelt({ ...peer, connected: accept }, 'attemptMax')),
    /did you mean 'attemptsMax'/,
  ],
  listenEndpoints: [
    () => messaging.listenEndpoints(misspelt({ ...place, accept }, 'clientEror')),
    /did you mean 'clientError'/,
  ],
  'listenEndpoints in its shared queue': [
    () => messaging.listenEndpoints({ ...place, accept, sharedReceiveQueue: misspelt({}, 'recieves') }),
    /unknown name 'recieves' in sharedReceiveQueue .*did you mean 'receives'/,
  ],
  listenEndpointsOnThreads: [
    () => messaging.listenEndpointsOnThreads(misspelt({ threads: { module } }, 'adress')),
    /did you mean 'address'/,
  ],
  openPeers: [() => messaging.openPeers(misspelt({ number: 0 }, 'peerMax')), /did you mean 'peersMax'/],
  'openPeers in its links': [
    () => messaging.openPeers({ number: 0, link: misspelt({}, 'sende') }),
    /unknown name 'sende' in link of openPeers; did you mean 'sends'/,
  ],
  'cm listen': [() => cm.listen(misspelt(place, 'backlogs')), /option 'backlogs' of listen; did you mean 'backlog'/],
  'cm connect': [() => cm.connect(misspelt(peer, 'retryCont')), /did you mean 'retryCount'/],
  'cm connect to a port that is a symbol': [
    () => cm.connect({ ...place, port: Symbol('s') as never }),
    /port must be a whole number from 0 to 65535, not a symbol/,
  ],
  'cm resolve': [() => cm.resolve('127.0.0.1', misspelt({ device: 'shm0' }, 'sorce')), /did you mean 'source'/],
  'cm createIdentifier': [() => cm.createIdentifier(misspelt({}, 'portspace')), /did you mean 'portSpace'/],
  'cm joinMulticast': [
    () => cm.joinMulticast(misspelt({ ...place, address: '239.0.0.1' }, 'sorce')),
    /did you mean 'source'/,
  ],
}

function misspelt<T extends object>(options: T, name: string): T {
  return { ...options, [name]: 1 }
}

for (const [name, [call, tells]] of Object.entries(calls))
  test(`${name}: a wrong option is refused with what to pass`, async () => {
    await assert.rejects(
      async () => {
        const made = (await call()) as Partial<AsyncDisposable & { close(): unknown }> | undefined
        await made?.close?.()
      },
      (error) => {
        assert.ok(error instanceof ArgumentError, String(error))
        assert.match(error.message, tells)
        return true
      },
    )
  })
