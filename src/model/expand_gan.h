// A `gan:` section written out: the two backprop paths that it stands for.
#ifndef CGRUN_MODEL_EXPAND_GAN_H_
#define CGRUN_MODEL_EXPAND_GAN_H_

#include "src/base/diagnostics.h"
#include "src/model/model_spec.h"

namespace cgrun {

// The paths `discriminate` and `generate`, as a file would write them:
//
//     discriminate:
//       trains: DISCRIMINATOR
//       ops:
//         - latent: LATENT
//         - fake: {network: GENERATOR, in: latent}
//         - real_score: {network: DISCRIMINATOR, in: REAL}
//         - fake_score: {network: DISCRIMINATOR, in: fake}
//       loss: [...]                      # of real_score and fake_score
//     generate:
//       trains: GENERATOR
//       ops:
//         - latent: LATENT
//         - fake: {network: GENERATOR, in: latent}
//         - score: {network: DISCRIMINATOR, in: fake}
//       loss: ...                        # of score
//       out: fake
//
// These are the losses, with s the scores.
// least_squares (Mao et al., 2017): the discriminator has (s_real - 1)²/2 + s_fake²/2, the
// generator (s - 1)²/2.
// non_saturating (Goodfellow et al., 2014): it is the binary cross-entropy of the scores as logits.
// wasserstein (Arjovsky et al., 2017): the discriminator has mean s_fake - mean s_real, the
// generator -mean s. It needs `clip_weights`, or a penalty on the slope at points between real and
// fake samples (Gulrajani et al., 2017).
TreeNode GanPaths(const GanSpec& gan);

// Adds GanPaths() to the paths of a model with a `gan`, and the sequence that `steps` asks for.
void ExpandGan(ModelSpec& model, Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_MODEL_EXPAND_GAN_H_
