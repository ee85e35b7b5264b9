// Native views and basic indexing: layout arithmetic on a tensor's metadata, with no plan.
//
// What tape_record_view(kind, base, view, arguments) receives. `base` is the tensor the view was taken of (itself
// possibly a view), `view` the new tensor; both shapes are in their metadata, `view->autograd` may be null. All dims are
// non-negative. "g" is the gradient of the view, the result is the gradient of `base`.
//
//   kind                 arguments                              gradient of base
//   Reshape              none                                   g.reshape(base sizes)        (view, reshape, flatten)
//   Unsqueeze, Squeeze   none                                   g.reshape(base sizes)
//   Permute              dims: view dim i is base dim dims[i]   g.permute(inverse of dims)
//   Expand               none: view rank >= base rank, aligned  sum g over new leading dims and over dims where the base
//                        at the last dim                        has size 1 and the view has not
//   Slice, Select        quadruples (dim, start, step, length), zeros(base sizes) whose listed slices hold
//                        at most one per base dim, ascending;   g.reshape(base sizes with each listed dim replaced by
//                        a dim not listed is taken whole        its length)
//   AsStrided            one: offset in elements of the view's  zeros(base sizes); add g at the positions the view
//                        first element from the base's first    (its sizes and strides, relative to that offset) reads
//   Alias                none                                   g
//   Detach               never recorded
//
// Slice covers narrow and every index expression of slices, ints, None and Ellipsis in one record: an int i is the
// quadruple (dim, i, 1, 1) whose dim is absent from the view, None a dim of size 1 absent from the base; the reshape in
// the table accounts for both. Select is the same with one quadruple of length 1 (select, unbind, x[i]).
