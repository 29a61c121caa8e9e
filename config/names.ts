import { z } from 'zod';

/** How a site names its sources, rules and destinations. */
export const name = z.string().regex(/^[a-z0-9][a-z0-9-]{0,39}$/, 'a name of a-z, 0-9 and hyphens');

/** PS3.5 6.2, VR AE: 1 to 16 characters, no backslash, no control characters, not all spaces. */
export const aeTitle = z
  .string()
  .regex(/^(?=.*\S)[\x20-\x5b\x5d-\x7e]{1,16}$/, '1 to 16 printable characters without backslash');
