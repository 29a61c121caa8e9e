import type { Measurement } from '../result/envelope.ts';

/** Whether a value was taken from the report of the ultrasound machine. */
export const isOfMachine = ({ source }: Measurement) => source.provenance === 'cart-sr';
