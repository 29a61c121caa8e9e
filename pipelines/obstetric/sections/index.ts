import type { ObstetricSection } from '../section.ts';
import { biometry } from './biometry.ts';
import { growth } from './growth.ts';
import { notYet } from './not-yet.ts';
import { planes } from './planes.ts';

/** The sections of us/obstetric/interpret in the order of the result; `report` follows them. */
export const SECTIONS: readonly ObstetricSection[] = [planes, biometry, growth, ...notYet];
