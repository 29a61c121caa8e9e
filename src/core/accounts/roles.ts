import type { Capability, ConsoleRole, Subject } from '../../doors/console/contract.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';

interface RoleMeaning {
  may: readonly Capability[];
  /** What of the identity of a patient is sent to the browser. */
  sees: Subject['shown'];
  /** Words of peers and of people, and what rules found in headers: they may hold identity. */
  readsFreeText: boolean;
}

/** What each role may do and see; nothing else decides it. */
export const ROLES = {
  viewer: { may: ['read'], sees: 'hidden', readsFreeText: false },
  clinician: { may: ['read', 'confirm'], sees: 'identity', readsFreeText: true },
  operator: {
    may: ['read', 'run', 'deliver', 'rules', 'peers'],
    sees: 'initials',
    readsFreeText: true,
  },
  administrator: {
    may: ['read', 'confirm', 'run', 'deliver', 'rules', 'peers', 'settings'],
    sees: 'identity',
    readsFreeText: true,
  },
} as const satisfies Record<ConsoleRole, RoleMeaning>;

export const CONSOLE_ROLES = ['viewer', 'clinician', 'operator', 'administrator'] as const;

export const sees = (role: ConsoleRole): Subject['shown'] => ROLES[role].sees;

export const readsFreeText = (role: ConsoleRole): boolean => ROLES[role].readsFreeText;

export function may(role: ConsoleRole, capability: Capability): boolean {
  const allowed: readonly Capability[] = ROLES[role].may;
  return allowed.includes(capability);
}

/** @throws SonogateError `forbidden` */
export function requireCapability(role: ConsoleRole, capability: Capability): void {
  if (may(role, capability)) return;
  throw new SonogateError('forbidden', `The role ${role} may not do this.`);
}
