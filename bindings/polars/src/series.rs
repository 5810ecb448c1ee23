//! Columns in the plugin interface's structs: [`import`] and [`export`].

use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::ptr;
use std::slice;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::{Array, ArrayRef, make_array, new_empty_array, new_null_array};
use arrow_schema::{DataType, Field};

/// A column, as Polars passes it: `SeriesExport` of the crate `polars-ffi`, version 0.
///
/// The receiver moves the arrays out, and then calls `release`, which frees the rest.
#[repr(C)]
pub struct SeriesExport {
    field: *mut FFI_ArrowSchema,
    /// The arrays, one for each part of the column.
    arrays: *mut *mut FFI_ArrowArray,
    len: usize,
    release: Option<unsafe extern "C" fn(*mut SeriesExport)>,
    /// Not null, unless the column is empty because of an error.
    private_data: *mut c_void,
}

/// The memory that an exported column refers to.
struct Exported {
    field: Box<FFI_ArrowSchema>,
    arrays: Box<[*mut FFI_ArrowArray]>,
}

/// A column that this plugin returns: its parts have the field's type.
pub struct Column {
    pub field: Field,
    pub parts: Vec<ArrayRef>,
}

/// Takes over columns, and returns the parts of each: at least one, which may be empty.
///
/// # Safety
/// The pointer refers to this many columns. The caller frees their memory but transfers the ownership of their
/// contents.
pub unsafe fn import(columns: *mut SeriesExport, len: usize) -> Result<Vec<Vec<ArrayRef>>, String> {
    let mut imported = Ok(Vec::with_capacity(len));
    for column in 0..len {
        // SAFETY: the caller passes this many columns.
        let column = unsafe { columns.add(column) };
        // SAFETY: the column is valid, and the caller does not use it again.
        let mut column = unsafe { column.read() };
        // SAFETY: a column has a field.
        let field = unsafe { &*column.field };
        let arrays = match column.len {
            0 => &[],
            // SAFETY: the column has this many arrays.
            len => unsafe { slice::from_raw_parts(column.arrays, len) },
        };
        // All arrays are moved out, even after an error, so that they are freed.
        // SAFETY: each pointer refers to an array, which its column does not use again.
        let arrays: Vec<FFI_ArrowArray> = arrays.iter().map(|&array| unsafe { array.read() }).collect();
        let kind = DataType::try_from(field).map_err(|error| error.to_string());
        let is_null = kind.as_ref().is_ok_and(|kind| *kind == DataType::Null);
        let empty = arrays.is_empty().then(|| kind.map(|kind| new_empty_array(&kind)));
        let parts = arrays.into_iter().map(|array| {
            // Polars describes arrays without a type differently from what `from_ffi` expects.
            if is_null {
                return Ok(new_null_array(&DataType::Null, array.len()));
            }
            // SAFETY: the array and its field follow Arrow's C data interface.
            let data = unsafe { from_ffi(array, field) };
            Ok(make_array(data.map_err(|error| error.to_string())?))
        });
        let parts: Result<Vec<ArrayRef>, String> = parts.chain(empty).collect();
        if let Some(release) = column.release {
            // SAFETY: the column is valid, and is released once.
            unsafe { release(&mut column) };
        }
        match (&mut imported, parts) {
            (Ok(imported), Ok(parts)) => imported.push(parts),
            (Ok(_), Err(error)) => imported = Err(error),
            (Err(_), _) => {}
        }
    }
    imported
}

/// Exports a column with its ownership.
pub fn export(column: Column) -> Result<SeriesExport, String> {
    let field = FFI_ArrowSchema::try_from(&column.field).map_err(|error| error.to_string())?;
    let array = |part: &ArrayRef| Box::into_raw(Box::new(FFI_ArrowArray::new(&part.to_data())));
    let arrays: Box<[*mut FFI_ArrowArray]> = column.parts.iter().map(array).collect();
    let exported = Box::into_raw(Box::new(Exported { field: Box::new(field), arrays }));
    // SAFETY: the box has just been created, and nothing else refers to it.
    let contents = unsafe { &mut *exported };
    Ok(SeriesExport {
        field: ptr::from_mut(contents.field.as_mut()),
        arrays: contents.arrays.as_mut_ptr(),
        len: contents.arrays.len(),
        release: Some(release),
        private_data: exported.cast(),
    })
}

/// Frees an exported column, except the arrays' contents, which the receiver has moved out.
unsafe extern "C" fn release(column: *mut SeriesExport) {
    // SAFETY: the receiver passes a null pointer or a column of `export`.
    let Some(column) = (unsafe { column.as_mut() }) else { return };
    if column.release.take().is_none() || column.private_data.is_null() {
        return;
    }
    // SAFETY: `export` made the box, and each column is released once.
    let exported = unsafe { Box::from_raw(column.private_data.cast::<Exported>()) };
    for &array in &exported.arrays {
        // SAFETY: `export` made the box. The contents have been moved out, so they must not be dropped here.
        drop(unsafe { Box::from_raw(array.cast::<ManuallyDrop<FFI_ArrowArray>>()) });
    }
    column.private_data = ptr::null_mut();
}
