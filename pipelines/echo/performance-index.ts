import type { CartMeasurement } from '../contract/cart.ts';
import { keyOf } from '../input/cart-sr/vocabulary.ts';
import { echoCartValues } from './cart-values.ts';
import type { PerformanceMethod } from './guidelines/right-ventricle.ts';

/** Image modes of CID 12224 by which RIMP is measured; each has its own limit (reference 7.2). */
const METHODS: Readonly<Record<string, PerformanceMethod>> = {
  'SCT|261199008': 'pulsed',
  'SCT|439858009': 'tissue',
};

/**
 * By which Doppler the machine measured its RIMP; null where it does not say so of each value, or
 * where it measured by both.
 */
export function performanceMethod(cart: readonly CartMeasurement[]): PerformanceMethod | null {
  const own = echoCartValues(cart).filter(({ key }) => key === 'rimp');
  const methods = own.map(({ imageMode }) => (imageMode && METHODS[keyOf(imageMode)]) ?? null);
  const [first = null] = methods;
  return methods.every((method) => method === first) ? first : null;
}
