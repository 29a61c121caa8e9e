import { expect, test } from 'vitest';
import { personOf } from '../../../../src/app/cli/person.ts';

test('a command is run by the person who is named, or else by the account', () => {
  const account = () => ({ username: 'sonogate' });
  expect(personOf('ana', account)).toBe('ana');
  expect(personOf(undefined, account)).toBe('sonogate');
});

test('an account without a name, as in a container, is named by its number', () => {
  const nameless = () => {
    throw new Error('uv_os_get_passwd returned ENOENT');
  };
  expect(personOf(undefined, nameless)).toBe(`uid ${process.getuid?.()}`);
});
