// Adds random operators, a method a family: each draws its operands and says whether it could.
#ifndef CGRUN_TESTS_SUPPORT_RANDOM_OPERATORS_H_
#define CGRUN_TESTS_SUPPORT_RANDOM_OPERATORS_H_

#include "tests/support/random_pool.h"

namespace cgrun {

class RandomOperators : public RandomPool {
 public:
  using RandomPool::RandomPool;

 protected:
  void EmitAny();

 private:
  using Emitter = bool (RandomOperators::*)();

  bool EmitUnary();

  OpId AnyArithmetic() {
    return dice_.Of<OpId>({OpId::add, OpId::sub, OpId::mul, OpId::div, OpId::min, OpId::max});
  }

  bool EmitBinary();

  // x + 0, 0·x, x / 1, … and with −0.
  bool EmitNeutral();

  bool EmitReduction();

  // Splits the number of elements into up to three factors, in any order, with a −1 now and then.
  bool EmitReshape();

  bool EmitBroadcast();

  // A node that is there already, its operands exchanged now and then: it must be merged with the
  // first only where that is allowed.
  bool EmitDuplicate();

  bool EmitAllReduce() { return TryEmit(OpId::all_reduce, Attributes(), {AnyValue()}); }

  // Adds the gradient of relu, from its output or from the bits of that.
  bool EmitGradient();

  // Two to five elementwise operators of one shape as one node, as a fusing pass would make it.
  bool EmitFused();

  ValueId AnyMatrix();

  bool EmitMatmul();

  // Samples turned, resized, painted over or of other colours.
  bool EmitResampled(ValueId x, int64_t key, bool varied);
  // Adds the gradient of a crop or of a resized image.
  bool EmitCropGradient(ValueId x, int64_t key, bool varied);
  // x, or images of one channel where it has no axis of channels; may be invalid.
  ValueId AsImages(ValueId x);
  bool EmitColorJitter(ValueId x, int64_t key, bool varied);

  // With a weight and a bias of its own.
  bool EmitLinear();

  bool EmitTranspose();

  bool EmitConcat();

  // An axis of x that is not the batch's, or −1.
  int AnyPlainAxis(ValueId x);

  bool EmitSlice();

  bool EmitPad();

  // Adds casts to another type and back, or to the same.
  bool EmitCast();

  bool EmitDropout();

  bool EmitNormalize();

  bool EmitResize();

  // Adds powers of x with a few whole exponents and a square root, or a few numbers to the power of
  // x.
  bool EmitPow();

  bool EmitClip();

  // A comparison, and one of two values as it says.
  bool EmitChoice();

  // With a scale and a shift of its own, or without.
  bool EmitLayerNorm();

  // Rows of a table of its own, or one-hot ones, for labels; some of them have none.
  bool EmitRows();

  // Numbers of a shape that is there already.
  bool EmitRandom();

  bool EmitCrop();

  bool EmitFlip();

  // Samples cut or flipped as the step says.
  bool EmitAugmented();

  // With a weight and a bias of its own.
  bool EmitConvTranspose();
  bool EmitIntegerProduct();

  ValueId LabelsFor(ValueId logits);

  // Two comparisons, joined, and one of two values as they say.
  bool EmitLogic();

  bool EmitRemainder();

  bool EmitCumsum();

  // Keeps a triangle of the last two axes.
  bool EmitTriangle();

  // Puts a value side by side with itself, or repeats it along axes of size 1.
  bool EmitRepetition();

  bool EmitResample();

  // Emits nodes that find the extrema of an axis, and read or write the elements there.
  bool EmitSearch();

  // Takes slices of a value at some of its places.
  bool EmitGather();

  // Takes blocks of a value at tuples of its places, and writes them elsewhere.
  bool EmitBlocks();

  // Places on an axis of `size`, some of them outside, of that shape.
  ValueId AnyPlaces(const Shape& shape, int64_t size);

  // Returns the first output of the last node.
  ValueId Last() const { return graph_.nodes[graph_.nodes.last()].outputs[0]; }

  // Adds a loss or metric of two values.
  bool EmitScalarOfTwo();

  // Adds a metric of the order of scores.
  bool EmitScores();
};

}  // namespace cgrun

#endif  // CGRUN_TESTS_SUPPORT_RANDOM_OPERATORS_H_
