import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { afterEach, describe, expect, test } from 'vitest';
import type { HttpState } from '../../../../src/doors/http/context.ts';
import { problems } from '../../../../src/doors/http/problems.ts';
import { DatabaseUnreachableError } from '../../../../src/platform/database/pooled.ts';
import { silentLogger } from '../../../../src/platform/logging/logger.ts';

let server: Server | undefined;
afterEach(() => server?.close());

async function answerTo(error: Error): Promise<Response> {
  const app = new Koa<HttpState>();
  app.use(
    problems({
      config: { publicUrl: undefined, maxBodyBytes: 1, maxFileBytes: 1 },
      logger: silentLogger,
    }),
  );
  app.use(() => {
    throw error;
  });
  server = app.listen(0, '127.0.0.1');
  await new Promise((done) => server?.once('listening', done));
  return fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/requests`);
}

describe('a request that fails with', () => {
  test('a database that cannot be reached asks the caller to retry soon', async () => {
    const answer = await answerTo(
      new DatabaseUnreachableError('connect ECONNREFUSED 10.0.0.7:5432'),
    );
    expect(answer.status).toBe(503);
    expect(answer.headers.get('Retry-After')).toBe('5');
    const body = await answer.json();
    expect(body).toMatchObject({ code: 'database_unreachable' });
    expect(JSON.stringify(body)).not.toContain('10.0.0.7');
  });

  test.each([
    ['here', 'ENOSPC'],
    ['of the PostgreSQL server', '53100'],
  ])('a full disk %s asks the caller to retry later', async (_where, code) => {
    const answer = await answerTo(Object.assign(new Error('write'), { code }));
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({ code: 'overloaded' });
    expect(answer.headers.get('Retry-After')).toBe('30');
  });

  test('an internal defect reveals no internals', async () => {
    const answer = await answerTo(new Error('column "secret" does not exist'));
    expect(answer.status).toBe(500);
    expect(await answer.text()).not.toContain('secret');
  });
});
