import assert from 'node:assert/strict'
import { request } from 'node:http'
import { describe, test } from 'node:test'
import { DashboardServer } from '../../src/dashboard/index.ts'
import { STREAMS_MAX } from '../../src/dashboard/server/live-routes.ts'
import { until } from '../cluster/support.ts'
import { Chromium, findChromium } from '../support/chromium.ts'
import { SyntheticSpace } from './support/synthetic-space.ts'

const path = findChromium()
const skip = path === undefined && 'there is no Chromium on PATH; on Debian: apt-get install chromium'
const TITLE = "document.querySelector('.brand').innerText"
const space = () => new SyntheticSpace({ members: 2, pages: 256, blocksALook: 1 })

describe('the connection of a page, in a real browser', { skip }, () => {
  test('says why the server does not let it listen, and goes on as soon as it does', async () => {
    const server = await DashboardServer.start({ source: space() })
    const { port, searchParams } = new URL(server.url)
    const headers = { Authorization: `Bearer ${searchParams.get('token')}` }
    const others = Array.from({ length: STREAMS_MAX }, () =>
      request({ port, host: '127.0.0.1', path: '/events', headers, agent: false })
        .on('error', () => {})
        .end(),
    )
    await using browser = await Chromium.start(path!)
    try {
      await until(() => server.streams === STREAMS_MAX, 'others listen')
      await browser.goTo(server.url)
      await browser.until(`${TITLE}.includes('${STREAMS_MAX} pages are connected already')`, 'it says why')
      for (const other of others) other.destroy()
      await browser.until(`${TITLE}.includes('synthetic')`, 'it listens')
      assert.deepEqual(browser.errors, [])
    } finally {
      await server.close()
    }
  })

  test('is under a name below .localhost as under the address, with a cookie of its own', async () => {
    const server = await DashboardServer.start({ source: space() })
    await using browser = await Chromium.start(path!)
    try {
      await browser.goTo(server.url.replace('127.0.0.1', 'heron-4711.localhost'))
      await browser.until(`${TITLE}.includes('synthetic')`, 'it listens')
      assert.match(await browser.evaluate<string>('location.href'), /^http:\/\/heron-4711\.localhost:\d+\/#/)
      const { port } = new URL(server.url)
      await browser.goTo(`http://127.0.0.1:${port}/`)
      await browser.until(
        "document.body.innerText.includes('open the address')",
        'the address does not get that cookie',
      )
      assert.deepEqual(browser.errors, [])
    } finally {
      await server.close()
    }
  })
})
