/** Registering and connecting beside the event loop, against a library whose calls are held as long as a test wants. */
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { noStandIn, StandIn, type StandInRun } from '../../native/verbs-stand-in/stand-in.ts'

const skip = noStandIn

function printed(run: StandInRun): unknown {
  assert.deepEqual([run.code, run.signal], [0, null], run.stderr)
  return JSON.parse(run.stdout)
}

const callsOf = (run: StandInRun): readonly string[] =>
  run.log.flatMap(
    (line) => /^(held \w+|ibv_(?:reg|dereg)_mr|ibv_modify_qp|ibv_destroy_qp|ibv_close_device)/.exec(line)?.[0] ?? [],
  )

test('the event loop turns while memory is registered, and the region is an ordinary one', { skip }, async () => {
  using standIn = new StandIn()
  const run = await standIn.run(
    async ({ open, untilHeld, release }) => {
      const domain = open('standin0').createProtectionDomain()
      const coming = [domain.allocateAsync(5000, 15), domain.registerAsync(new Uint8Array(64), 1)]
      await untilHeld()
      release()
      const regions = await Promise.all(coming)
      console.log(
        JSON.stringify(
          regions.map(({ length, access, localKey, remoteKey, bytes }) => [
            length,
            access,
            localKey > 0,
            remoteKey > 0,
            bytes.length,
          ]),
        ),
      )
      for (const region of regions) region.close()
    },
    { hold: 'ibv_reg_mr' },
  )
  assert.deepEqual(printed(run), [
    [5000, 15, true, true, 5000],
    [64, 1, true, false, 64],
  ])
  assert.ok(run.log.includes('ibv_reg_mr length=5000 access=0xf aligned=1'), run.log.join('\n'))
})

test('an error is that of the call, and its memory is given back', { skip }, async () => {
  using standIn = new StandIn()
  const run = await standIn.run(
    async ({ open }) => {
      const domain = open('standin0').createProtectionDomain()
      const errors = []
      for (const make of [
        () => domain.allocateAsync(4096, 15),
        () => domain.allocateAsync(4096, 2),
        () => domain.allocateAsync(0, 1),
      ])
        errors.push(await make().then(String, ({ name, message }) => [name, message.split(':').slice(0, 2).join(':')]))
      console.log(JSON.stringify(errors))
    },
    { fail: { ibv_reg_mr: 12 } },
  )
  assert.deepEqual(printed(run), [
    ['VerbsError', 'ibv_reg_mr: ENOMEM'],
    ['VerbsError', 'ibv_reg_mr: EINVAL'],
    ['ArgumentError', 'lengthBytes must be a whole number from 1 to 2^47, not 0'],
  ])
})

test('an abort rejects at once, and the memory is given back when the call has ended', { skip }, async () => {
  using standIn = new StandIn()
  const run = await standIn.run(
    async ({ open, untilHeld, release }) => {
      const domain = open('standin0').createProtectionDomain()
      const controller = new AbortController()
      const coming = domain.allocateAsync(4096, 15, { signal: controller.signal }).catch((error) => error)
      await untilHeld()
      controller.abort(new Error('enough'))
      const { message } = await coming
      release()
      const early = await domain
        .registerAsync(new Uint8Array(8), 1, { signal: controller.signal })
        .catch((error) => error.message)
      console.log(JSON.stringify([message, early]))
      // The library still has it: closing waits.
      domain.close()
    },
    { hold: 'ibv_reg_mr' },
  )
  assert.deepEqual(printed(run), ['enough', 'enough'])
  assert.deepEqual(callsOf(run), ['held ibv_reg_mr', 'ibv_reg_mr', 'ibv_dereg_mr', 'ibv_close_device'])
})

test('closing the domain waits for what has begun, and nothing is left', {
  skip,
}, async () => {
  using standIn = new StandIn()
  const run = await standIn.run(
    async ({ open, untilHeld }) => {
      const { spawn } = await import('node:child_process')
      const domain = open('standin0').createProtectionDomain()
      const coming = Array.from({ length: 7 }, () =>
        domain.allocateAsync(4096, 1).then(
          () => 'made',
          ({ name }) => name,
        ),
      )
      await untilHeld()
      // This thread waits in close, so that somebody else has to let the calls go on.
      spawn('sh', ['-c', 'sleep 0.3; : > "$AETHER_STAND_IN_GATE"'], { stdio: 'ignore' })
      domain.close()
      console.log(JSON.stringify(await Promise.all(coming)))
    },
    { hold: 'ibv_reg_mr' },
  )
  assert.deepEqual(printed(run), Array(7).fill('ClosedError'))
  const begun = run.log.filter((line) => line.startsWith('ibv_reg_mr')).length
  assert.ok(begun >= 1)
  assert.equal(run.log.filter((line) => line === 'ibv_dereg_mr').length, begun)
})

test('what is given up before a thread was free for it never begins', { skip }, async () => {
  using standIn = new StandIn()
  const run = await standIn.run(
    async ({ open, untilHeld, release }) => {
      const domain = open('standin0').createProtectionDomain()
      const controller = new AbortController()
      // More than the pool has threads (4).
      const coming = Array.from({ length: 7 }, () =>
        domain.allocateAsync(4096, 1, { signal: controller.signal }).catch((error) => error.message),
      )
      await untilHeld()
      controller.abort(new Error('enough'))
      const outcomes = await Promise.all(coming)
      release()
      domain.close()
      console.log(JSON.stringify(outcomes))
    },
    { hold: 'ibv_reg_mr' },
  )
  assert.deepEqual(printed(run), Array(7).fill('enough'))
  const begun = run.log.filter((line) => line.startsWith('ibv_reg_mr')).length
  assert.ok(begun >= 1 && begun <= 4, `${begun} registrations began`)
  assert.equal(run.log.filter((line) => line === 'ibv_dereg_mr').length, begun)
})

test('a Worker that ends in the middle of a registration waits for it, and the memory is deregistered', {
  skip,
}, async () => {
  using standIn = new StandIn()
  const run = await standIn.run(
    async ({ untilHeld, release }) => {
      const { Worker } = await import('node:worker_threads')
      const program = `import(process.env.AETHER_TEST_VERBS).then(({ openDevice }) =>
        openDevice('standin0').createProtectionDomain().allocateAsync(4096, 1))`
      const worker = new Worker(program, { eval: true })
      await untilHeld()
      const ended = worker.terminate()
      release()
      await ended
    },
    { hold: 'ibv_reg_mr' },
  )
  assert.deepEqual([run.code, run.signal], [0, null], run.stderr)
  assert.deepEqual(callsOf(run), ['held ibv_reg_mr', 'ibv_reg_mr', 'ibv_dereg_mr', 'ibv_close_device'])
})

test('connecting takes its three steps beside the event loop', { skip }, async () => {
  using standIn = new StandIn()
  const run = await standIn.run(
    async ({ verbs, open, untilHeld, release }) => {
      const device = open('standin0')
      const queue = device.createCompletionQueue({ depth: 16 })
      const pair = device
        .createProtectionDomain()
        .createQueuePair({ type: 'rc', sendQueue: queue, receiveQueue: queue })
      const coming = pair.connectAsync(pair.endpoint, { timeout: 9 })
      await untilHeld()
      release()
      await coming
      console.log(JSON.stringify(pair.state === verbs.QueuePairState.ReadyToSend))
    },
    { hold: 'ibv_modify_qp' },
  )
  assert.equal(printed(run), true)
  assert.deepEqual(
    run.log.flatMap((line) => /^ibv_modify_qp mask=\S+ state=\d/.exec(line)?.[0] ?? []).map((line) => line.at(-1)),
    ['1', '2', '3'],
  )
})

test('an abort ends connecting after the step that is under way, and the queue pair can begin anew', {
  skip,
}, async () => {
  using standIn = new StandIn()
  const run = await standIn.run(
    async ({ open, untilHeld, release }) => {
      const device = open('standin0')
      const queue = device.createCompletionQueue({ depth: 16 })
      const pair = device
        .createProtectionDomain()
        .createQueuePair({ type: 'rc', sendQueue: queue, receiveQueue: queue })
      const controller = new AbortController()
      const coming = pair.connectAsync(pair.endpoint, { signal: controller.signal }).catch(({ message }) => message)
      await untilHeld()
      controller.abort(new Error('never mind'))
      const outcome = await coming
      release()
      pair.toReset() // waits for the step
      console.log(JSON.stringify([outcome, pair.state]))
    },
    { hold: 'ibv_modify_qp' },
  )
  assert.deepEqual(printed(run), ['never mind', 0])
  assert.equal(run.log.filter((line) => line.startsWith('ibv_modify_qp')).length, 2, 'INIT and RESET')
})

test('closing the queue pair in the middle of connecting waits for the step, and connecting rejects', {
  skip,
}, async () => {
  using standIn = new StandIn()
  const run = await standIn.run(
    async ({ open, untilHeld }) => {
      const { spawn } = await import('node:child_process')
      const device = open('standin0')
      const queue = device.createCompletionQueue({ depth: 16 })
      const pair = device
        .createProtectionDomain()
        .createQueuePair({ type: 'rc', sendQueue: queue, receiveQueue: queue })
      const coming = pair.connectAsync(pair.endpoint).catch(({ name }) => name)
      await untilHeld()
      spawn('sh', ['-c', 'sleep 0.3; : > "$AETHER_STAND_IN_GATE"'], { stdio: 'ignore' })
      pair.close()
      console.log(JSON.stringify(await coming))
    },
    { hold: 'ibv_modify_qp' },
  )
  assert.equal(printed(run), 'ClosedError')
  assert.deepEqual(callsOf(run), ['ibv_modify_qp', 'held ibv_modify_qp', 'ibv_destroy_qp', 'ibv_close_device'])
})

test('a refused step says what the synchronous call says', { skip }, async () => {
  using standIn = new StandIn()
  const run = await standIn.run(
    async ({ open }) => {
      const device = open('standin0')
      const queue = device.createCompletionQueue({ depth: 16 })
      const pair = device
        .createProtectionDomain()
        .createQueuePair({ type: 'rc', sendQueue: queue, receiveQueue: queue })
      let said = ''
      try {
        pair.connect(pair.endpoint)
      } catch (error) {
        said = (error as Error).message
      }
      const message = await pair.connectAsync(pair.endpoint).catch((error) => error.message)
      console.log(JSON.stringify([message === said, said]))
    },
    { fail: { ibv_modify_qp: 110 } },
  )
  const [same, said] = printed(run) as [boolean, string]
  assert.ok(same, said)
  assert.match(said, /^ibv_modify_qp: ETIMEDOUT/)
})
