/**
 * Small pictures from screenshots: PNG files of 256 colours, several of them as an animation (APNG). It reads what
 * Chromium writes: 8 bits a channel, not interlaced. The format: https://www.w3.org/TR/png-3/
 */
import { crc32, deflateSync, inflateSync } from 'node:zlib'

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
/** Index 0 of each palette. In an animation: what the frame before had. */
const UNCHANGED = 0
const COLOURS_MAX = 256
/** The square of the distance from which on two colours of a palette are worth having. */
const APART = 48

/** The pixels of a PNG file, each as 0xRRGGBB. */
export function decodePicture(file) {
  const chunks = []
  for (let at = SIGNATURE.length; at < file.length; ) {
    const length = file.readUInt32BE(at)
    chunks.push({ type: file.toString('latin1', at + 4, at + 8), data: file.subarray(at + 8, at + 8 + length) })
    at += length + 12
  }
  const header = chunks[0].data
  const [width, height, depth, colourType, interlaced] = [
    ...[0, 4].map((at) => header.readUInt32BE(at)),
    ...[8, 9, 12].map((at) => header[at]),
  ]
  const channels = { 2: 3, 6: 4 }[colourType]
  if (depth !== 8 || channels === undefined || interlaced !== 0) throw new Error('not a PNG file of the kind expected')
  const data = inflateSync(Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map((chunk) => chunk.data)))
  return { width, height, pixels: unfilter(data, width, height, channels) }
}

/** Undoes the filters of PNG, section 9. */
function unfilter(data, width, height, channels) {
  const stride = width * channels
  const pixels = new Uint32Array(width * height)
  let above = new Uint8Array(stride)
  for (let y = 0; y < height; y += 1) {
    const filter = data[y * (stride + 1)]
    const line = new Uint8Array(data.subarray(y * (stride + 1) + 1, (y + 1) * (stride + 1)))
    for (let x = 0; x < stride; x += 1) {
      const left = x < channels ? 0 : line[x - channels]
      const corner = x < channels ? 0 : above[x - channels]
      line[x] += [0, left, above[x], (left + above[x]) >> 1, paeth(left, above[x], corner)][filter]
    }
    for (let x = 0; x < width; x += 1) {
      const [red, green, blue] = line.subarray(x * channels)
      pixels[y * width + x] = (red << 16) | (green << 8) | blue
    }
    above = line
  }
  return pixels
}

function paeth(left, above, corner) {
  const [byLeft, byAbove, byCorner] = [above - corner, left - corner, left + above - 2 * corner].map(Math.abs)
  if (byLeft <= byAbove && byLeft <= byCorner) return left
  return byAbove <= byCorner ? above : corner
}

/** A PNG file of one picture, or an animation of several of one size; each has `delayMs`, how long it is shown. */
export function encodePicture(pictures) {
  const [{ width, height }] = pictures
  const palette = new Palette(pictures)
  const frames = pictures.map(({ pixels }) => Uint8Array.from(pixels, (colour) => palette.indexOf(colour)))
  const isAnimation = frames.length > 1
  const header = Buffer.from([...bytes(4, width, height), 8, 3, 0, 0, 0])
  const chunks = [chunk('IHDR', header), chunk('PLTE', palette.bytes), chunk('tRNS', Buffer.from([0]))]
  if (isAnimation) chunks.push(chunk('acTL', bytes(4, frames.length, 0)))
  let sequence = 0
  for (const [index, frame] of frames.entries()) {
    const part = index === 0 ? { x: 0, y: 0, width, height } : changedPart(frames[index - 1], frame, width)
    if (isAnimation) {
      const place = bytes(4, sequence++, part.width, part.height, part.x, part.y)
      const delay = bytes(2, Math.round(pictures[index].delayMs), 1000)
      // What was there stays, and this is drawn over it.
      chunks.push(chunk('fcTL', Buffer.concat([place, delay, Buffer.from([0, 1])])))
    }
    const data = deflateSync(linesOf(frame, frames[index - 1], part, width), { level: 9, memLevel: 9 })
    chunks.push(index === 0 ? chunk('IDAT', data) : chunk('fdAT', Buffer.concat([bytes(4, sequence++), data])))
  }
  return Buffer.concat([SIGNATURE, ...chunks, chunk('IEND', Buffer.alloc(0))])
}

/** The rectangle outside of which nothing has changed. */
function changedPart(before, after, width) {
  const xs = []
  const ys = []
  for (let at = 0; at < after.length; at += 1) {
    if (before[at] === after[at]) continue
    xs.push(at % width)
    ys.push(Math.floor(at / width))
  }
  const least = (values) => values.reduce((one, other) => Math.min(one, other), values[0] ?? 0)
  const most = (values) => values.reduce((one, other) => Math.max(one, other), 0)
  const [x, y] = [least(xs), least(ys)]
  return { x, y, width: most(xs) - x + 1, height: most(ys) - y + 1 }
}

/** Lines without a filter, which suits palettes. */
function linesOf(frame, before, part, width) {
  const lines = Buffer.alloc((part.width + 1) * part.height)
  for (let y = 0; y < part.height; y += 1) {
    for (let x = 0; x < part.width; x += 1) {
      const at = (part.y + y) * width + part.x + x
      lines[y * (part.width + 1) + 1 + x] = before?.[at] === frame[at] ? UNCHANGED : frame[at]
    }
  }
  return lines
}

/** The most frequent of the colours that can be told apart; another becomes the nearest of them. */
class Palette {
  #indexes = new Map()
  #colours = [0]

  constructor(pictures) {
    const counts = new Map()
    for (const { pixels } of pictures) for (const colour of pixels) counts.set(colour, (counts.get(colour) ?? 0) + 1)
    for (const [colour] of [...counts].sort(([, one], [, other]) => other - one)) {
      if (this.#colours.length === COLOURS_MAX) break
      if (this.#nearest(colour).distance >= APART) this.#indexes.set(colour, this.#colours.push(colour) - 1)
    }
  }

  get bytes() {
    return Buffer.from(this.#colours.flatMap(channelsOf))
  }

  indexOf(colour) {
    const index = this.#indexes.get(colour) ?? this.#nearest(colour).index
    this.#indexes.set(colour, index)
    return index
  }

  #nearest(colour) {
    const [red, green, blue] = channelsOf(colour)
    let nearest = { index: UNCHANGED, distance: Number.POSITIVE_INFINITY }
    for (let index = 1; index < this.#colours.length; index += 1) {
      const [itsRed, itsGreen, itsBlue] = channelsOf(this.#colours[index])
      const distance = (red - itsRed) ** 2 + (green - itsGreen) ** 2 + (blue - itsBlue) ** 2
      if (distance < nearest.distance) nearest = { index, distance }
    }
    return nearest
  }
}

function channelsOf(colour) {
  return [colour >> 16, (colour >> 8) & 0xff, colour & 0xff]
}

/** Numbers of so many bytes, the highest byte first. */
function bytes(size, ...numbers) {
  const buffer = Buffer.alloc(size * numbers.length)
  for (const [index, number] of numbers.entries()) buffer.writeUIntBE(number, index * size, size)
  return buffer
}

function chunk(type, data) {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data])
  return Buffer.concat([bytes(4, data.length), named, bytes(4, crc32(named))])
}
