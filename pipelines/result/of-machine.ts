import type { Measurement } from './envelope.ts';

/** Whether a value was taken from the report of the ultrasound machine. */
export const isOfMachine = ({ source }: Pick<Measurement, 'source'>): boolean =>
  source.provenance === 'cart-sr';
