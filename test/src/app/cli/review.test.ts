import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { Sonogate } from '../../../../clients/typescript/src/client.ts';
import { interpretReviewed } from '../../../../pipelines/obstetric/review.ts';
import { evidenceText } from '../../../../pipelines/run/stored-evidence.ts';
import { changeReview, showReview, signReview } from '../../../../src/app/cli/review.ts';
import { reviewedStudy } from '../../../pipelines/obstetric/reviewed-study.ts';
import { type Gateway, startGateway } from '../../doors/http/gateway.ts';

let gateway: Gateway;
let client: Sonogate;
let request: string;

beforeAll(async () => {
  gateway = await startGateway();
  const key = await gateway.key({ name: 'Dr Ada Reader', scopes: ['read', 'review', 'sign'] });
  client = new Sonogate({ url: gateway.url, key, retries: 0 });
  request = await gateway.submit();
  await gateway.worker.start(request);
  const reviewed = reviewedStudy();
  const result = interpretReviewed(reviewed, [], new Date('2026-01-01T00:00:00Z'));
  await gateway.worker.succeed(request, { 'evidence.json': evidenceText(reviewed) }, result);
});
afterAll(() => gateway.stop());
afterEach(() => vi.restoreAllMocks());

/** Returns what a command prints. */
async function printed(run: () => Promise<void>): Promise<string> {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  await run();
  const text = write.mock.calls.map(([chunk]) => String(chunk)).join('');
  write.mockRestore();
  return text;
}

it('shows each value with its id, and how to sign', async () => {
  const text = await printed(() => showReview(request, {}, client));
  expect(text).toContain(`${request} is draft, revision 0\n`);
  expect(text).toMatch(/^ {2}counts +fl: Femur length 51\.\d mm$/m);
  expect(text).toContain(`sonogate review sign ${request} --revision 0`);
});

it('enters a value, and names it as entered', async () => {
  const change = { kind: 'set-value', measurement: 'fl', value: 50 } as const;
  const text = await printed(() => changeReview(request, change, {}, client));
  expect(text).toMatch(/^ {2}entered +fl: Femur length 50(\.0)? mm$/m);
  expect(text).toMatch(/^change 1: set-value by Dr Ada Reader at /m);
});

it('signs only the revision that the reader has seen', async () => {
  await expect(signReview(request, { revision: 0 }, client)).rejects.toMatchObject({
    code: 'stale_review',
  });
  const text = await printed(() => signReview(request, { revision: 1 }, client));
  expect(text).toContain(`${request} is signed, revision 2`);
  expect(text).toMatch(/^signed by Dr Ada Reader at .* \(1 of 1\)$/m);
  expect(text).not.toContain('review sign');
});

it('changes a signed result only with `amend`', async () => {
  const change = { kind: 'undo', change: 1 } as const;
  await expect(changeReview(request, change, {}, client)).rejects.toMatchObject({
    problem: { code: 'already_signed' },
  });
  const text = await printed(() => changeReview(request, change, { amend: true }, client));
  expect(text).toContain(`${request} is in-review, revision 3`);
});
