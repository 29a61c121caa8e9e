import { userInfo } from 'node:os';

/**
 * Returns who runs a command, for the audit trail: the name given with `--by`, or the account of
 * the operating system. In a container, the account may have a number and no name.
 */
export function personOf(
  by?: string,
  account: () => { username: string } = () => userInfo(),
): string {
  if (by !== undefined) return by;
  try {
    return account().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
