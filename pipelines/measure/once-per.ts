/**
 * Wraps a pure function of an immutable object so that it runs only once per object. Without this,
 * the same clips would be measured again for both ends of each value's 95 % interval, and after
 * every change in a review. The result is kept only as long as the object itself.
 */
export function oncePer<Given extends object, Made>(
  make: (given: Given) => Made,
): (given: Given) => Made {
  const known = new WeakMap<Given, { made: Made }>();
  return (given) => {
    const found = known.get(given) ?? { made: make(given) };
    known.set(given, found);
    return found.made;
  };
}
