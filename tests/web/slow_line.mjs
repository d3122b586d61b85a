// A slow line between browser and server: a SOCKS proxy that delays and throttles what comes down.

import {once} from 'node:events';
import net from 'node:net';

const PIECE = 8192; // bytes

// Starts the proxy; bits a second are shared by all connections, seconds pass each way. `held()`: bytes that the proxy has and the
// browser has not; above `most` it stops reading, so that the server notices.
export async function slowLine({bits, seconds, most = 65536}) {
  let free = 0; // when the line has sent what was given to it
  let held = 0;
  const sockets = new Set();
  const wait = (until) => new Promise((resolve) => setTimeout(resolve, until - performance.now()));

  // Reads no more while more than `most` bytes wait for the line.
  async function carry(from, to, slow) {
    const queue = []; // timers may swap pieces
    try {
      for await (const chunk of from) {
        for (let at = 0; at < chunk.length; at += PIECE) {
          const piece = chunk.subarray(at, at + PIECE);
          const now = performance.now();
          free = slow ? Math.max(now, free) + piece.length * 8000 / bits : free;
          const arrives = (slow ? free : now) + seconds * 1000;
          held += slow ? piece.length : 0;
          queue.push(piece);
          setTimeout(() => {
            const first = queue.shift();
            held -= slow ? first.length : 0;
            to.write(first);
          }, arrives - now);
          if (slow && held > most) await wait(free);
        }
      }
      setTimeout(() => to.end(), Math.max(0, free - performance.now()) + seconds * 1000);
    } catch {
      to.destroy();
    }
  }

  const server = net.createServer(async (browser) => {
    sockets.add(browser);
    browser.on('error', () => {}).setNoDelay();
    await once(browser, 'data'); // its ways to log in
    browser.write(Buffer.from([5, 0]));
    const [request] = await once(browser, 'data');
    const upstream = net.connect(request.readUInt16BE(request.length - 2), '127.0.0.1');
    sockets.add(upstream);
    upstream.on('error', () => {}).setNoDelay();
    browser.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
    void carry(browser, upstream, false);
    void carry(upstream, browser, true);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    proxy: `socks5://127.0.0.1:${server.address().port}`,
    held: () => held,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
