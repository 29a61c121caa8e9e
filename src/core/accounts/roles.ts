import { SonogateError } from '../../platform/errors/catalogue.ts';

/**
 *   viewer         sees studies without identity
 *   clinician      sees identity and results; reviews, signs and withdraws them; decides on held
 *                  reports and acknowledges critical flags
 *   operator       sees initials; manages deliveries, rules and peers; completes and holds studies,
 *                  repeats and cancels their interpretation
 *   administrator  may do everything above except signing, and changes the settings
 */
export const CONSOLE_ROLES = ['viewer', 'clinician', 'operator', 'administrator'] as const;
export type ConsoleRole = (typeof CONSOLE_ROLES)[number];

export type Capability =
  | 'read'
  | 'confirm'
  | 'review'
  | 'sign'
  | 'withdraw'
  | 'run'
  | 'deliver'
  | 'rules'
  | 'peers'
  | 'settings';

type ShownIdentity = 'identity' | 'initials' | 'hidden';

interface RoleMeaning {
  may: readonly Capability[];
  /** How much of a patient's identity the browser receives. */
  sees: ShownIdentity;
  /**
   * True if the role sees text from peers and people, and the header values that rules evaluate. Both
   * may contain identity.
   */
  readsFreeText: boolean;
}

/** What each role may do and see. Permissions are defined only in this table. */
export const ROLES = {
  viewer: { may: ['read'], sees: 'hidden', readsFreeText: false },
  clinician: {
    may: ['read', 'confirm', 'review', 'sign', 'withdraw'],
    sees: 'identity',
    readsFreeText: true,
  },
  operator: {
    may: ['read', 'run', 'deliver', 'rules', 'peers'],
    sees: 'initials',
    readsFreeText: true,
  },
  administrator: {
    may: ['read', 'confirm', 'review', 'withdraw', 'run', 'deliver', 'rules', 'peers', 'settings'],
    sees: 'identity',
    readsFreeText: true,
  },
} as const satisfies Record<ConsoleRole, RoleMeaning>;

export const sees = (role: ConsoleRole): ShownIdentity => ROLES[role].sees;

export const readsFreeText = (role: ConsoleRole): boolean => ROLES[role].readsFreeText;

export function may(role: ConsoleRole, capability: Capability): boolean {
  const allowed: readonly Capability[] = ROLES[role].may;
  return allowed.includes(capability);
}

/** @throws SonogateError `forbidden` unless the role has the capability. */
export function requireCapability(role: ConsoleRole, capability: Capability): void {
  if (may(role, capability)) return;
  throw new SonogateError('forbidden', `The role ${role} may not do this.`);
}
