/**
 * Wraps a pure function of an immutable object so that it runs only once per object. The same
 * frames are interpreted at both ends of every interval, and again after every change in a review.
 * A result is released together with its object.
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
