import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MOST_FILES } from '../../../../src/doors/http/submission.ts';
import { LONGEST_NAME_BYTES } from '../../../../src/doors/http/uploads.ts';
import { type Gateway, read, startGateway } from './gateway.ts';

const HOST = 'https://pacs.example';

describe('the files in an input', () => {
  let gateway: Gateway;

  beforeAll(async () => {
    gateway = await startGateway({ config: { maxBodyBytes: 200_000, maxFileBytes: 1 } });
  });
  afterAll(() => gateway.stop());

  const run = (input: object) => gateway.call('/v1/run/us/obstetric', { body: { input } });
  const namesOf = async (input: object) => {
    const { rows } = await gateway.database.query<{ files: { name: string }[] }>(
      'SELECT files FROM requests WHERE id = $1',
      [(await read(await run(input))).id],
    );
    return rows[0]?.files.map(({ name }) => name) ?? [];
  };
  const alike = (count: number) => Array.from({ length: count }, () => `${HOST}/a.png`);

  it.each(['files', 'prior_files'])('are up to a thousand %s, and no more', async (field) => {
    const one = [`${HOST}/b.png`];
    expect((await run({ files: one, [field]: alike(MOST_FILES) })).status).toBe(202);
    const refused = await run({ files: one, [field]: alike(MOST_FILES + 1) });
    expect(refused.status).toBe(422);
    expect(await read(refused)).toMatchObject({
      code: 'invalid_input',
      errors: [{ pointer: `/input/${field}`, detail: expect.stringContaining('1000') }],
    });
  });

  it("are numbered if they share a name, even if a number is another file's name", async () => {
    expect(
      await namesOf({
        files: ['a-2.png', 'a.png', 'a.png', 'a.png', 'a-2.png'].map((name) => `${HOST}/${name}`),
      }),
    ).toEqual(['a-2.png', 'a.png', 'a-3.png', 'a-4.png', 'a-2-2.png']);
    const names = await namesOf({ files: alike(MOST_FILES) });
    expect(new Set(names).size).toBe(MOST_FILES);
    expect(names.at(-1)).toBe('a-1000.png');
  });

  it.each([
    ['of as many bytes as fit', `${'a'.repeat(196)}.png`, `${'a'.repeat(196)}.png`],
    ['one byte longer', `b${'a'.repeat(196)}.png`, `${'a'.repeat(196)}.png`],
    ['of letters of two bytes', `${'é'.repeat(100)}.png`, `${'é'.repeat(98)}.png`],
    ['of signs of four bytes', `${'🫀'.repeat(60)}-a.png`, `${'🫀'.repeat(48)}-a.png`],
  ])(
    '%s keep the end of the name in their URL, without splitting characters',
    async (_case, name, kept) => {
      const [found = ''] = await namesOf({ files: [`${HOST}/${encodeURIComponent(name)}`] });
      expect(found).toBe(kept);
      expect(Buffer.byteLength(found)).toBeLessThanOrEqual(LONGEST_NAME_BYTES);
    },
  );
});
