/**
 * Baseline for the submit in `http.ts`: a koa route that reads a JSON body and inserts one row.
 * `node test/bench/bare-koa.ts DATABASE_URL` prints its address.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import Koa from 'koa';
import pg from 'pg';

/** Same number of sessions as the gateway allows its core. */
const pool = new pg.Pool({ connectionString: process.argv[2], max: 12 });
await pool.query('CREATE TABLE bare (id bigserial PRIMARY KEY, body jsonb NOT NULL)');

const app = new Koa();
app.use(async (context) => {
  const body = JSON.stringify(await json(context.req));
  const { rows } = await pool.query('INSERT INTO bare (body) VALUES ($1) RETURNING id', [body]);
  context.status = 202;
  context.body = rows[0];
});
const server = createServer(app.callback());
server.listen(0, '127.0.0.1');
await once(server, 'listening');
process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
